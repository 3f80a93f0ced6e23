import { readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, relative, resolve } from 'node:path'
import { ensureReviewDir } from '../src/store/ensure-review-dir.ts'
import { readRegular } from '../src/store/read-regular.ts'
import { reviewDir } from '../src/store/review-paths.ts'
import { errnoOf } from '../src/store/store-error.ts'
import { writeWhole } from '../src/store/write-whole.ts'
import { UserError } from '../src/system/user-error.ts'

export type Strategy = { path: string; bytes: Buffer; inCheckout: string | null }

const maxBytes = 4 * 1024 * 1024

/** The document that says what is wanted. */
export function findStrategy(cwd: string, given: string | null, checkout: string | null = null): Strategy | null {
  if (given === null) return null
  const path = resolve(cwd, given)
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined)
    throw new UserError(
      `The strategy document ${path} does not exist.`,
      'Check the path, or leave it out and tell Claude what you want.',
    )
  if (!found.isFile()) throw new UserError(`${path} is not a file.`, 'Name the document itself.')
  if (found.size > maxBytes)
    throw new UserError(
      `${path} is larger than 4 MB.`,
      'Name a document that says what is wanted, not the material for it.',
    )
  return { path, bytes: bytesOf(path), inCheckout: checkout === null ? null : insideOf(checkout, path) }
}

function bytesOf(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new UserError(`${path} cannot be read (${errnoOf(error)}).`, 'Make it readable, then try again.')
  }
}

function insideOf(checkout: string, path: string): string | null {
  const inside = relative(checkout, realpathSync(path))
  return inside === '..' || inside.startsWith('../') ? null : inside
}

/** The worktree's name: the one given, or the strategy's, or today's. */
export function nameFor(given: string | null, strategy: Strategy | null, now: Date): string {
  if (given === null)
    return strategy === null
      ? now.toISOString().slice(0, 10)
      : slug(basename(strategy.path).replace(/\.[^.]*$/, '')) || 'plan'
  const name = given.normalize('NFC')
  if (/^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,63}$/u.test(name) && !/\.\.|\.$|\.lock$/.test(name)) return name
  throw new UserError(
    `${JSON.stringify(given)} cannot be a name: it becomes part of a folder and of a branch.`,
    'Use letters, digits, dots, dashes and underscores, at most 64.',
  )
}

function slug(text: string): string {
  const words = text
    .toLowerCase()
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '-')
  return [...words]
    .slice(0, 48)
    .join('')
    .replace(/^[-\p{M}]+|-+$/gu, '')
}

/**
 * The first prompt. A strategy that the worktree has with the same content is named where it stands; any other is laid
 * into `.claude/review`, where it is part of the record and does not show up in `git status`.
 */
export function bringStrategy(worktree: string, strategy: Strategy | null): string {
  if (strategy === null) return '/plan-with-review'
  const own = strategy.inCheckout === null ? null : readRegular(worktree, strategy.inCheckout)
  if (own?.kind === 'read' && own.bytes.equals(strategy.bytes)) return `/plan-with-review ${strategy.inCheckout}`
  const path = `${reviewDir}/strategy.md`
  ensureReviewDir(worktree)
  writeWhole(worktree, path, strategy.bytes)
  return `/plan-with-review ${path}`
}
