import { realpathSync } from 'node:fs'
import { relative, resolve, sep } from 'node:path'
import { isOwnPath } from '../../gate/own-paths.ts'
import { inScope } from '../../gate/scope/in-scope.ts'
import { readPlanScope } from '../../gate/scope/read-plan-scope.ts'
import { git, gitOrNull } from '../../system/git.ts'
import { UserError } from '../../system/user-error.ts'
import type { Check } from '../check-record.ts'
import type { Files } from './check-files.ts'

/** Which files differ between the base and HEAD that the plan does not name. The plan and its record go without saying. */
export async function checkScope(
  plan: string,
  files: Files,
  base: string,
): Promise<{ check: Check; outside: readonly string[] }> {
  const root = await topLevel()
  const exempt = [files.plan, files.approval, files.ledger].flatMap((file) =>
    file === null ? [] : insideOf(root, file),
  )
  const changed = await changedSince(base)
  const scope = readPlanScope(plan)
  const outside = changed.filter((path) => !exempt.includes(path) && !isOwnPath(path) && !inScope(path, scope))
  const holds = outside.length === 0 || !files.strictScope
  return { outside, check: { name: 'scope', holds, detail: describe(changed, outside, files.strictScope) } }
}

function describe(changed: readonly string[], outside: readonly string[], isStrict: boolean): string {
  if (outside.length === 0) return `${changed.length} files changed, none that the plan does not name`
  const listed = outside.slice(0, 20).join(', ')
  const more = outside.length > 20 ? ` and ${outside.length - 20} more` : ''
  return `the plan does not name ${listed}${more}${isStrict ? '' : ' (only told; --strict-scope makes it count)'}`
}

async function topLevel(): Promise<string> {
  const found = await gitOrNull(process.cwd(), ['rev-parse', '--show-toplevel'])
  if (found !== null) return realpathSync(found.replace(/\n$/, ''))
  throw new UserError('--base needs a git checkout, and this is none.', 'Go to the checkout, or leave --base out.')
}

const insideOf = (root: string, file: string): string[] => {
  const path = relative(root, realOrGiven(file))
  return path.startsWith('..') ? [] : [path.replaceAll(sep, '/')]
}

function realOrGiven(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return resolve(file)
  }
}

async function changedSince(base: string): Promise<string[]> {
  const cwd = process.cwd()
  const known = await gitOrNull(cwd, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${base}^{commit}`])
  if (known === null)
    throw new UserError(
      `--base ${base} is not a commit that this clone knows.`,
      'Fetch it; in GitHub Actions: actions/checkout with fetch-depth: 0.',
    )
  const flags = ['--name-only', '-z', '--no-renames', '--no-ext-diff', '--no-textconv', '--ignore-submodules=none']
  const range = `${known.trim()}...HEAD`
  const diff = await git(cwd, ['diff', ...flags, range, '--'])
  if (diff.kind === 'ok') return diff.stdout.split('\0').filter((path) => path !== '')
  throw new UserError(
    `git cannot compare ${base} with HEAD: ${diff.message}`,
    'A shallow clone lacks what they have in common: fetch the whole history (fetch-depth: 0).',
  )
}
