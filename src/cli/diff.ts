import { findGatedCheckout } from '../../bootstrap/find-worktree.ts'
import { escapeUntrusted } from '../redact/untrusted-text.ts'
import type { DiffOutput } from '../schemas/output.ts'
import { readRegular } from '../state/files.ts'
import { planPath, revisionPath } from '../state/own-paths.ts'
import { listRevisions } from '../state/revisions.ts'
import { UserError } from '../system/errors.ts'
import { unifiedDiff } from '../text/diff.ts'
import type { Run } from './command.ts'

export const diffCommand: Run<'diff'> = async (_, terminal, [from, to]) => {
  const { root } = await findGatedCheckout(process.cwd())
  const revisions = listRevisions(root).map(({ revision }) => revision)
  const before = revisionOf(from, revisions) ?? revisions.at(-1)
  if (before === undefined)
    throw new UserError('No revision of the plan has been sent to review in this cycle.', 'See `plan-gate status`.')
  const after = revisionOf(to, revisions)
  const names = { before: `v${before}`, after: after === null ? planPath : `v${after}` }
  const diff = unifiedDiff(textOf(root, before), textOf(root, after), { context: 3, maxLines: 100_000, names })
  terminal.answer({ from: names.before, to: names.after, diff } satisfies DiffOutput, formatDiff(diff))
}

const formatDiff = (diff: string): string => (diff === '' ? 'No changes.' : escapeUntrusted(diff).trimEnd())

function revisionOf(name: string | undefined, revisions: readonly number[]): number | null {
  if (name === undefined) return null
  const number = Number(/^v?([1-9]\d{0,5})$/.exec(name)?.[1] ?? Number.NaN)
  if (revisions.includes(number)) return number
  throw new UserError(
    `There is no revision ${name} in this cycle.`,
    revisions.length === 0 ? 'There is none yet.' : `There are: ${revisions.map((each) => `v${each}`).join(', ')}.`,
  )
}

function textOf(root: string, revision: number | null): string {
  const path = revision === null ? planPath : revisionPath(revision, 'snapshot.md')
  const read = readRegular(root, path)
  if (read.kind === 'read') return read.bytes.toString('utf8')
  throw new UserError(
    read.kind === 'absent' ? `There is no ${path}.` : `${path} cannot be used: ${read.why}.`,
    'See `plan-gate status`.',
  )
}
