import { mayOverlap } from '../gate/scope.ts'
import { sensitiveFileTest } from '../redact/sensitive-files.ts'
import type { ReviewType } from '../schemas/review.ts'
import { readRegular } from '../state/files.ts'
import { planPath } from '../state/own-paths.ts'
import { readOpenedWorktree } from '../state/records.ts'
import { gitSync } from '../system/hook-git.ts'

/** `text`: null where there is none. */
export type Background = { readonly text: string | null; readonly notices: readonly string[] }

const gitTimeoutMs = 10_000
const maxFileBytes = 4 * 1024 * 1024

/** What was asked for: `plan.request`, a path or a pattern, or the document that bootstrap was given. */
export function readIntent(root: string, gitDir: string | null, request: string | null): Background {
  const named = request ?? readOpened(gitDir)?.request ?? null
  if (named === null) return { text: null, notices: [] }
  const files = /[*?[]/.test(named) ? matchingFiles(root, named) : [named]
  if (files.length === 0) return { text: null, notices: [withoutRequest(named, 'it matches no file')] }
  return join(
    files.map((file): Part => {
      const read = refused(file) ?? readRegular(root, file, maxFileBytes)
      if (read.kind === 'read') return { file, text: read.bytes.toString('utf8') }
      return { file, notice: withoutRequest(file, read.kind === 'absent' ? 'it does not exist' : read.why) }
    }),
  )
}

const isSensitive = sensitiveFileTest([])

function refused(file: string): { readonly kind: 'refused'; readonly why: string } | null {
  if (!isInside(file)) return { kind: 'refused', why: 'it is outside of the worktree' }
  if (file === planPath) return { kind: 'refused', why: 'the plan is no request for itself' }
  return isSensitive(file) ? { kind: 'refused', why: 'such files hold secrets' } : null
}

type Guideline = { readonly file: string; readonly types: readonly ReviewType[]; readonly paths: readonly string[] }

type Touched = {
  readonly type: ReviewType
  readonly touched: readonly string[]
  /** The commit that a change is compared with. */
  readonly base?: string | null
}

/**
 * The team's own rules for this type of review and the paths that it touches, as the commit has them that the work
 * started from: nobody edits them under review.
 */
export function readGuidelines(
  root: string,
  gitDir: string | null,
  guidelines: readonly Guideline[],
  { type, touched, base = null }: Touched,
): Background {
  const wanted = guidelines.filter(
    ({ types, paths }) =>
      types.includes(type) &&
      (paths.length === 0 || paths.some((pattern) => touched.some((path) => mayOverlap(pattern, path)))),
  )
  const commit = base ?? readOpened(gitDir)?.base_commit ?? 'HEAD'
  return join(
    [...new Set(wanted.map(({ file }) => file))].map((file): Part => {
      const run = gitSync(root, ['cat-file', 'blob', `${commit}:${file.replace(/^\.\//, '')}`], gitTimeoutMs)
      return run.kind === 'ended' && run.exitCode === 0
        ? { file, text: run.stdout.toString('utf8') }
        : { file, notice: `The reviewer did not get the guidelines in ${file}: the base commit has no such file.` }
    }),
  )
}

type Part = { readonly file: string; readonly text?: string; readonly notice?: string }

function join(parts: readonly Part[]): Background {
  const texts = parts.flatMap(({ file, text }) => (text === undefined ? [] : [`${file}:\n\n${text.trim()}\n`]))
  const notices = parts.flatMap(({ notice }) => notice ?? [])
  return { text: texts.length === 0 ? null : texts.join('\n'), notices }
}

function readOpened(gitDir: string | null) {
  const read = gitDir === null ? null : readOpenedWorktree(gitDir)
  return read?.kind === 'read' ? read.value : null
}

/** The plan is no request for itself. */
function matchingFiles(root: string, pattern: string): readonly string[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', `:(glob)${pattern}`]
  const run = gitSync(root, args, gitTimeoutMs)
  const listed = run.kind === 'ended' && run.exitCode === 0 ? run.stdout.toString('utf8').split('\0') : []
  return [...new Set(listed)].filter((path) => path !== '' && path !== planPath).sort()
}

const isInside = (path: string): boolean => !path.startsWith('/') && !path.split('/').includes('..')

const withoutRequest = (file: string, why: string): string =>
  `The reviewer did not get what was asked for (${file}): ${why}.`
