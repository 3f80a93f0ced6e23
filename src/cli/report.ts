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
    .description('Write the reviews as one HTML page: revisions, findings, verdicts, time and tokens, denials.')
    .option('-o, --output <file>', 'its file; - for stdout (default: .claude/review/report.html)')
    .option('--from <folder>', 'reviews kept by `finish` or `uninstall --keep-reviews`, or another worktree')
    .option('--open', 'open it in the browser')
    .option('--json', 'the data of the report as JSON on stdout; no page is written')
    .addHelpText(
      'after',
      helpText(
        [
          ['plan-gate report --open'],
          ['plan-gate report --output review.html'],
          ['plan-gate report --from ../kept-reviews --open', 'kept by uninstall or finish'],
          ["plan-gate report --json | jq '.cycles[].revisions[].result.verdict'"],
        ],
        `The page is a single file that works offline and can be sent to others. Secrets in the plan are redacted; everything
else in the reviews is in it.
Exit code: 0 done, 2 there is nothing to report, or the file cannot be written.`,
      ),
    )
    .action(async (flags: Flags) => {
      const terminal = openTerminal(flags.json === true)
      const toStdout = flags.output === '-'
      if (toStdout && flags.open === true)
        throw new UserError('--open needs a file, not stdout.', 'Leave out --output, or name a file.')
      const source = await sourceOf(flags)
      if (flags.json === true) return terminal.out(asJson(dataOf(source)))
      if (toStdout) return void process.stdout.write(renderPage(dataOf(source)))
      const path = await write(source, flags.output)
      if (flags.open === true) await open(path, terminal)
      else terminal.out(formatPath(path))
    })

type Source = { kind: 'worktree'; root: string; gitDirs: GitDirs } | { kind: 'kept'; folder: string }

/** A worktree, or a folder of kept reviews. */
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
  terminal.out(formatPath(path))
  const why = await openInBrowser(path)
  if (why !== null) terminal.note(`${terminal.paint('yellow', '!')} ${why} Open the file yourself.`)
}

const formatPath = (path: string): string => `The report is in ${escapeUntrusted(path).replaceAll('\n', ' ')}`

/** Escapes control and invisible characters. */
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

/** The first is for WSL. */
const linuxOpeners: readonly Opener[] = [['wslview'], ['xdg-open']]

/** Null if it was opened, otherwise why not. */
export async function openInBrowser(path: string): Promise<string | null> {
  let why = 'No program was found that opens a browser.'
  for (const [name, ...args] of openers[process.platform] ?? linuxOpeners) {
    const program = findProgram(name)
    if (program === null) continue
    const code = await startOpener(program, [...args, pathToFileURL(path).href])
    if (code === 0) return null
    why = `${name} failed (exit code ${code}).`
  }
  return why
}

/** An opener that is still running then is the browser itself. */
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
