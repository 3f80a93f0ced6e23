import { resolve } from 'node:path'
import { reportInstallPlan } from '../../bootstrap/bootstrap.ts'
import { askTrust } from '../../bootstrap/launch.ts'
import { readStanding } from '../../bootstrap/standing.ts'
import { findEverything, removeEverything } from '../../bootstrap/uninstall-all.ts'
import { assertNoToolCall } from '../gate/call-notes.ts'
import { isInSandbox } from '../gate/sandbox/rules.ts'
import { installHere } from '../install/apply.ts'
import type { Reviewer } from '../install/prerequisites.ts'
import { startSessionHere } from '../install/self-test.ts'
import { uninstall } from '../install/uninstall.ts'
import { nextAction } from '../plan/next-action.ts'
import { replaceDamagedLedger } from '../plan/replace-ledger.ts'
import { escapeUntrusted } from '../redact/untrusted-text.ts'
import type { InstallResult, UninstallOutput } from '../schemas/output.ts'
import { readInstallRecord } from '../state/records.ts'
import { UserError } from '../system/errors.ts'
import type { GitDirs } from '../system/git-dirs.ts'
import { findCheckout } from '../system/repository.ts'
import type { Flags, Run } from './command.ts'
import { askOnTerminal, progressPrinter, type Terminal } from './terminal.ts'

export const installCommand: Run<'install'> = async ({ reflect, track, trust, dryRun, ...flags }, terminal) => {
  const print = progressPrinter(terminal)
  // One of the choices of the option.
  const reviewer = flags.reviewer as Reviewer | null
  // Where there is no checkout, the install says so.
  const here = dryRun ? null : await findCheckout(process.cwd()).catch(() => null)
  if (here !== null && readInstallRecord(here.gitDirs.own).kind !== 'absent') {
    if (isInSandbox(here.gitDirs.own)) return tellStanding(here, terminal)
    assertNoToolCall(here.gitDirs.own)
    for (const detail of await replaceDamagedLedger(here.root)) print({ event: 'notice', detail })
  }
  const options = { reviewer, reflect, ...(track ? { track } : {}), dryRun }
  const { kind, plan, root, gitDirs } = await installHere(process.cwd(), options, print)
  if (kind === 'dry-run') reportInstallPlan(plan, root, print)
  const asked =
    kind === 'dry-run' ? null : await askTrust(root, gitDirs, { trust, ask: askOnTerminal(terminal) }, print)
  const files = plan.files.map(({ path }) => path)
  const result: InstallResult = { event: 'result', kind, root, settings: plan.settings.path, files }
  if (terminal.json) terminal.out(JSON.stringify(result))
  else
    terminal.note(
      kind === 'dry-run'
        ? '\nNothing was changed.'
        : `\nThe gate is installed in ${root}. \`plan-gate open\` starts Claude Code there; \`plan-gate uninstall\` removes it.`,
    )
  if (asked === null) return
  const told = await startSessionHere(root, gitDirs.own, plan.entries)
  if (told === null || terminal.json) return
  terminal.say(told)
  const { length } = asked.untrusted
  if (length > 0)
    terminal.say(
      `The repository brings ${length === 1 ? 'a thing' : `${length} things`} that nobody has agreed to, so the gate stays closed in this session even with an approved plan. The user looks at it in a terminal: \`plan-gate trust\`.`,
    )
}

/** For /plan-gate:open in a session that runs under the gate already. */
function tellStanding({ root, gitDirs }: { root: string; gitDirs: GitDirs }, { json, out, say }: Terminal): void {
  const { text } = nextAction(readStanding(root, gitDirs, { drift: false }))
  const detail = `plan-gate guards this worktree already. ${text}`
  if (json) out(JSON.stringify({ event: 'notice', detail }))
  else say(detail)
}

export const uninstallCommand: Run<'uninstall'> = async (flags, terminal) => {
  if (flags.all) return uninstallAll(flags, terminal)
  if (flags.dryRun || flags.yes)
    throw new UserError('--dry-run and --yes belong to --all.', 'Leave them out, or add --all.')
  const { root, gitDirs } = await findCheckout(process.cwd())
  assertNoToolCall(gitDirs.own)
  const done = await uninstall(root, gitDirs, flags.keepReviews === null ? null : resolve(flags.keepReviews))
  if (terminal.json) return terminal.out(JSON.stringify({ root, ...done } satisfies UninstallOutput))
  reportRemoved(done, terminal)
  if (done.removed.length + done.restored.length === 0) terminal.note('plan-gate was not installed here.')
}

async function uninstallAll(flags: Flags<'uninstall'>, terminal: Terminal): Promise<void> {
  if (flags.keepReviews !== null)
    throw new UserError(
      '--keep-reviews is for one worktree.',
      'Use it there first: plan-gate uninstall --keep-reviews <folder>.',
    )
  const found = await findEverything(process.cwd())
  const { home: root, left, shared, caches, kept } = found
  const worktrees = found.worktrees.map((worktree) => worktree.root)
  const folders = [...left, ...shared, ...caches]
  if (!terminal.json) {
    for (const path of worktrees) terminal.note(`the gate and its reviews in  ${escapeUntrusted(path)}`)
    for (const path of folders) terminal.note(`${escapeUntrusted(path)}/`)
    for (const path of kept) terminal.note(`kept: ${escapeUntrusted(path)}/`)
  }
  if (flags.dryRun) {
    const output = { root, kind: 'dry-run', worktrees, removed: folders, restored: [], notes: [] } as const
    if (terminal.json) terminal.out(JSON.stringify(output satisfies UninstallOutput))
    else terminal.note('\nNothing was changed.')
    return
  }
  if (worktrees.length + folders.length === 0 && !terminal.json) return terminal.note('Nothing of plan-gate is here.')
  for (const { gitDirs } of found.worktrees) assertNoToolCall(gitDirs.own)
  if (!flags.yes) {
    const ask = askOnTerminal(terminal)
    if (ask === null)
      throw new UserError('This needs consent.', 'Look at it with --all --dry-run, then say --all --yes.')
    if (!(await ask('Remove all of this? The worktrees and their branches stay. [y/N] ')))
      return terminal.note('Nothing was changed.')
  }
  const done = await removeEverything(found)
  if (terminal.json)
    terminal.out(JSON.stringify({ root, kind: 'uninstalled', worktrees, ...done } satisfies UninstallOutput))
  else reportRemoved(done, terminal)
}

function reportRemoved(
  { removed, restored, notes }: Pick<UninstallOutput, 'removed' | 'restored' | 'notes'>,
  { note, paint }: Terminal,
): void {
  for (const path of removed) note(`removed   ${escapeUntrusted(path)}`)
  for (const path of restored) note(`restored  ${escapeUntrusted(path)}`)
  for (const each of notes) note(`${paint('yellow', '!')} ${each}`)
}
