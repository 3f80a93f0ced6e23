import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { bootstrap } from '../../bootstrap/bootstrap.ts'
import { runOwnHook } from '../install/self-test.ts'
import { ownHooksOf, settingsOrEmpty } from '../install/settings.ts'
import { forgetGate } from '../state/gates.ts'
import { sharedSettings } from '../state/own-paths.ts'
import { UserError } from '../system/errors.ts'
import { git } from '../system/git.ts'
import { findCheckout } from '../system/repository.ts'
import { withTemporaryFolder } from '../system/temporary-folder.ts'
import { wrapToWidth } from '../text/width.ts'
import type { Run } from './command.ts'
import script from './demo.json' with { type: 'json' }
import { readWorktreeReport, renderPage, writePage } from './report.ts'
import type { Paint, Terminal } from './terminal.ts'

export const demoCommand: Run<'demo'> = async ({ keep }, terminal) => {
  const play = (folder: string): Promise<void> => run(terminal, folder, keep)
  if (keep) await play(newFolder())
  else await withTemporaryFolder('demo', play)
}

const newFolder = (): string => realpathSync(mkdtempSync(join(tmpdir(), 'plan-gate-demo-')))

async function run(terminal: Terminal, folder: string, isKept: boolean): Promise<void> {
  const { worktree, failures } = await playDemo(terminal, folder)
  const { root, gitDirs } = await findCheckout(worktree)
  if (!isKept) forgetGate(root)
  const page = renderPage(readWorktreeReport(root, gitDirs))
  const report = writePage(page, join(isKept ? folder : newFolder(), 'report.html'))
  if (terminal.json)
    terminal.out(JSON.stringify({ event: 'result', failures, report, ...(isKept ? { worktree } : {}) }))
  if (failures > 0) process.exitCode = 1
  note(terminal, `A report of it: ${report}`)
  if (isKept) note(terminal, `The repository is kept in ${worktree}.`)
  if (failures === 0) for (const line of script.afterwards) note(terminal, line)
  else
    terminal.note(terminal.paint('red', `\n${failures} of the steps above did not go as expected. Please report this.`))
}

/** In a narrow terminal the lines that a long one becomes keep its indentation. */
function note(terminal: Terminal, line: string, style?: Parameters<Paint>[0]): void {
  const [start = ''] = /^ *(?:- )?/.exec(line) ?? []
  const columns = process.stderr.isTTY ? process.stderr.columns - start.length : 0
  const text = line.slice(start.length)
  for (const [index, piece] of (columns < 10 ? [text] : wrapToWidth(text, columns, 100)).entries()) {
    const words = (index === 0 ? start : ' '.repeat(start.length)) + piece
    terminal.note(style === undefined ? words : terminal.paint(style, words))
  }
}

/** A scripted agent in a temporary repository, with the installed hooks, run by the commands of the settings file. */
async function playDemo(terminal: Terminal, folder: string): Promise<{ worktree: string; failures: number }> {
  const repo = await temporaryRepository(join(folder, 'shop'))
  const options = {
    strategy: null,
    name: 'greeting',
    branch: null,
    base: null,
    dir: null,
    reviewer: 'checklist',
    reflect: false,
    setup: true,
    launch: false,
    allowOldClient: true,
    dryRun: false,
    trust: false,
    ask: null,
    claudeFlags: [],
  } as const
  const { worktree } = await bootstrap(repo, options, () => {})
  terminal.note(terminal.paint('bold', `A gated worktree: ${worktree}\n`))

  const hooks = ownHooksOf(settingsOrEmpty(readFileSync(join(worktree, sharedSettings), 'utf8')))
  const session = { terminal, worktree, hooks, failures: 0 }
  // The agent tries to get around the gate, then follows it.
  for (const act of script.acts) await playAct(session, { path: null, command: null, content: [], ...act })
  return { worktree, failures: session.failures }
}

/** One tool call of the scripted agent, and the expected answer; `message`: in the denial, or in what is told afterwards. */
type Act = Pick<(typeof script.acts)[number], 'says' | 'tool' | 'expected' | 'message'> & {
  readonly path: string | null
  readonly command: string | null
  readonly content: readonly string[]
}

type Session = { terminal: Terminal; worktree: string; hooks: ReturnType<typeof ownHooksOf>; failures: number }

async function playAct(session: Session, act: Act): Promise<void> {
  const { terminal, worktree } = session
  const { paint } = terminal
  const asked = await runHook(session, 'PreToolUse', act)
  const answer = asked.exitCode === 0 ? 'allowed' : 'denied'
  const target = act.path ?? act.command ?? ''
  if (answer === 'allowed' && act.path !== null) write(join(worktree, act.path), act.content)
  const told =
    answer === 'allowed' ? outcomeLines((await runHook(session, 'PostToolUse', act)).stdout) : linesOf(asked.stderr)
  const isAsExpected = answer === act.expected && told.join('\n').includes(act.message)
  if (!isAsExpected) session.failures += 1

  note(terminal, act.says, 'bold')
  note(terminal, `  ${act.tool} ${target}`)
  terminal.note(`  ${answer === 'allowed' ? paint('green', '✓ allowed') : paint('red', '✗ denied')}`)
  for (const line of told) note(terminal, `    ${line.replaceAll(`${worktree}/`, '')}`, 'dim')
  if (!isAsExpected) note(terminal, `  Expected: ${expectedText(act)}.`, 'red')
  terminal.note('')
  if (terminal.json) {
    const { says, tool, expected } = act
    terminal.out(
      JSON.stringify({ event: 'act', says, tool, target, answer, expected, told, as_promised: isAsExpected }),
    )
  }
}

const expectedText = ({ expected, message }: Act): string => `${expected}${message === '' ? '' : `, with "${message}"`}`

async function runHook(
  { hooks, worktree }: Session,
  event: string,
  act: Act,
): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  const hook = hooks.find((hook) => hook.event === event)
  if (hook === undefined) throw new Error(`the settings have no ${event} hook`)
  const input = JSON.stringify({
    session_id: 'demo',
    cwd: worktree,
    permission_mode: 'bypassPermissions',
    hook_event_name: event,
    tool_name: act.tool,
    tool_input:
      act.path === null
        ? { command: act.command }
        : { file_path: join(worktree, act.path), content: act.content.join('\n') },
  })
  const outcome = await runOwnHook(worktree, hook, input)
  if (outcome.kind === 'not-started') throw new UserError(`${outcome.why}.`, 'Fix that, then try again.', 1)
  if (outcome.kind !== 'ended') throw new Error(`the ${event} hook was ${outcome.kind}`)
  return outcome
}

function write(path: string, lines: readonly string[]): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, lines.join('\n'))
}

type HookOutcome = { reason?: string; hookSpecificOutput?: { additionalContext?: string } }

function outcomeLines(stdout: string): string[] {
  if (stdout === '') return []
  const { reason, hookSpecificOutput } = JSON.parse(stdout) as HookOutcome
  return linesOf(reason ?? hookSpecificOutput?.additionalContext ?? '')
}

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '')

async function temporaryRepository(dir: string): Promise<string> {
  mkdirSync(dir)
  await git(dir, ['init', '--quiet'])
  writeFileSync(join(dir, 'README.md'), '# A shop\n')
  await git(dir, ['add', '-A'])
  const author = ['user.name=demo', 'user.email=demo@localhost', 'commit.gpgSign=false'].flatMap((each) => ['-c', each])
  await git(dir, [...author, 'commit', '--quiet', '-m', 'A shop'])
  return dir
}
