import { spawn } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Command } from 'commander'
import { escapeUntrusted } from '../redact/untrusted-text.ts'
import type { ReportData } from '../report/data.ts'
import { reviewDir } from '../state/own-paths.ts'
import { UserError } from '../system/errors.ts'
import { findProgram } from '../system/find-program.ts'
import type { GitDirs } from '../system/git-dirs.ts'
import { findCheckout } from '../system/repository.ts'
import { checkoutHere } from './config-here.ts'
import { readKeptReviews, readWorktreeReport, renderPage, writePage, writeReport } from './report-data.ts'
import { helpText, openTerminal, type Terminal } from './terminal.ts'

type Flags = { output?: string; from?: string; open?: boolean; json?: boolean }

export const reportCommand = (): Command =>
  new Command('report')
    .description('The reviews as one page to look at: revisions, findings, verdicts, time and tokens, denials.')
    .option('-o, --output <file>', 'where to write it; - for stdout (default: .claude/review/report.html)')
    .option('--from <folder>', 'reviews that `finish` or `uninstall --keep-reviews` has kept, or another worktree')
    .option('--open', 'open it in the browser')
    .option('--json', 'what the report is made from, as JSON on stdout; no page is written')
    .addHelpText(
      'after',
      helpText(
        [
          ['plan-gate report --open'],
          ['plan-gate report --output review.html'],
          ['plan-gate report --from ../kept-reviews --open', 'what uninstall or finish has kept'],
          ["plan-gate report --json | jq '.cycles[].revisions[].result.verdict'"],
        ],
        `The page is a single file without any network: it can be sent to others, and read offline. Secrets in the plan are
blanked; everything else that the reviews say is in it.
Exit code: 0 done, 2 there is nothing to report, or the file cannot be written.`,
      ),
    )
    .action(async (flags: Flags) => {
      const terminal = openTerminal(flags.json === true)
      const toStdout = flags.output === '-'
      if (toStdout && flags.open === true)
        throw new UserError('What goes to stdout cannot be opened.', 'Leave out --output, or name a file.')
      const source = await sourceOf(flags)
      if (flags.json === true) return terminal.out(asJson(dataOf(source)))
      if (toStdout) return void process.stdout.write(renderPage(dataOf(source)))
      const path = await write(source, flags.output)
      if (flags.open === true) await open(path, terminal)
      else terminal.out(shown(path))
    })

type Source = { kind: 'worktree'; root: string; gitDirs: GitDirs } | { kind: 'kept'; folder: string }

/** A folder that is a worktree has its gate, too; any other one has only what was kept. */
async function sourceOf({ from }: Flags): Promise<Source> {
  if (from === undefined) return { kind: 'worktree', ...(await findCheckout(process.cwd())) }
  const folder = resolve(from)
  const here = existsSync(join(folder, reviewDir)) ? await checkoutHere(folder) : null
  return here !== null && realpathSync(here.root) === realpathSync(folder)
    ? { kind: 'worktree', ...here }
    : { kind: 'kept', folder }
}

const dataOf = (source: Source): ReportData =>
  source.kind === 'worktree' ? readWorktreeReport(source.root, source.gitDirs) : readKeptReviews(source.folder)

async function write(source: Source, output: string | undefined): Promise<string> {
  const named = output === undefined ? null : resolve(output)
  if (source.kind === 'worktree') return (await writeReport(source.root, source.gitDirs, named)).path
  return writePage(renderPage(dataOf(source)), named ?? join(source.folder, 'report.html'))
}

async function open(path: string, terminal: Terminal): Promise<void> {
  terminal.out(shown(path))
  const why = await openInBrowser(path)
  if (why !== null) terminal.note(`${terminal.paint('yellow', '!')} ${why} Open the file yourself.`)
}

const shown = (path: string): string => `The report is in ${escapeUntrusted(path).replaceAll('\n', ' ')}`

/** What would turn or hide text on a terminal is written as JSON can write it as well. */
const asJson = (data: unknown): string =>
  JSON.stringify(data).replace(/[\u007f-\u009f\u2028\u2029]|\p{Cf}/gu, (character) =>
    Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
      .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
      .join(''),
  )

type Opener = readonly [program: string, ...args: string[]]

const openers: { readonly [platform: string]: readonly Opener[] } = {
  darwin: [['open']],
  win32: [['rundll32', 'url.dll,FileProtocolHandler']],
}

/** In a Windows of its own, Linux has the first. */
const linuxOpeners: readonly Opener[] = [['wslview'], ['xdg-open']]

/** With the platform's own opener. Null when it was opened, or why not. */
export async function openInBrowser(path: string): Promise<string | null> {
  let why = 'There is no program here that opens a browser.'
  for (const [name, ...args] of openers[process.platform] ?? linuxOpeners) {
    const program = findProgram(name)
    if (program === null) continue
    const code = await startOpener(program, [...args, pathToFileURL(path).href])
    if (code === 0) return null
    why = `${name} could not open it (exit code ${code}).`
  }
  return why
}

/** An opener that is still there after this long is the browser itself, or talks to it. */
const openerTimeoutMs = 2_000

function startOpener(program: string, args: readonly string[]): Promise<number> {
  const opener = spawn(program, args, { detached: true, stdio: 'ignore' })
  opener.unref()
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(0), openerTimeoutMs)
    const end = (code: number): void => {
      clearTimeout(timer)
      resolve(code)
    }
    opener.once('error', () => end(127))
    opener.once('exit', (code) => end(code ?? 1))
  })
}
