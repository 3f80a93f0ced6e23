import { spawn } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { findGatedCheckout } from '../../bootstrap/find-worktree.ts'
import { escapeUntrusted } from '../redact/untrusted-text.ts'
import type { ReportData } from '../report/data.ts'
import type { ServedOutput } from '../schemas/review.ts'
import { reviewDir } from '../state/own-paths.ts'
import { findProgram } from '../system/environment.ts'
import { UserError } from '../system/errors.ts'
import { findCheckout } from '../system/repository.ts'
import { exitCodeOfSignal } from '../system/signals.ts'
import type { Flags, Run } from './command.ts'
import { checkoutHere } from './config-here.ts'
import {
  readKeptReviews,
  readWorktreeReport,
  renderPage,
  renderServedPage,
  saveReport,
  writePage,
} from './report-data.ts'
import { type Terminal, withOwnCommand } from './terminal.ts'

export const reportCommand: Run<'report'> = async (flags, terminal) => {
  if (flags.serve) return serve(flags, terminal)
  const toStdout = flags.output === '-'
  if (toStdout && flags.open)
    throw new UserError('--open needs a file, not stdout.', 'Leave out --output, or name a file.')
  const { data, root, folder } = await sourceOf(flags)
  if (terminal.json) return terminal.answer(data, [])
  if (toStdout) return void process.stdout.write(renderPage(data))
  const named = flags.output === null ? null : resolve(flags.output)
  const path =
    root === null ? writePage(renderPage(data), named ?? join(folder, 'report.html')) : saveReport(root, data, named)
  terminal.out(`The report is in ${escapeUntrusted(path).replaceAll('\n', ' ')}`)
  if (flags.open) await openOrSay(pathToFileURL(path).href, 'the file', terminal)
}

/** A worktree, or a folder of kept reviews (`root` null). */
async function sourceOf({ from }: Flags<'report'>): Promise<{ data: ReportData; root: string | null; folder: string }> {
  const folder = resolve(from ?? '.')
  const here =
    from === null ? await findCheckout(folder) : existsSync(join(folder, reviewDir)) ? await checkoutHere(folder) : null
  const isRoot = here !== null && (from === null || realpathSync(here.root) === realpathSync(folder))
  return isRoot
    ? { data: readWorktreeReport(here.root, here.gitDirs), root: here.root, folder }
    : { data: readKeptReviews(folder), root: null, folder }
}

async function openOrSay(href: string, what: string, terminal: Terminal): Promise<void> {
  const why = await openInBrowser(href)
  if (why !== null) terminal.note(`${terminal.paint('yellow', '!')} ${why} Open ${what} yourself.`)
}

const idleMinutes = 30

/** Until a decision was recorded; see `serveReport` for the other ends. */
async function serve(flags: Flags<'report'>, terminal: Terminal): Promise<void> {
  if (flags.from !== null || flags.output !== null)
    throw new UserError('--serve is for this worktree, and writes no file.', 'Leave out --from and --output.')
  if (process.env.CLAUDECODE !== undefined)
    throw new UserError(
      'The page is where the user decides, and Claude Code reads what is printed here.',
      'Run plan-gate report --serve in a terminal of your own.',
      1,
    )
  const { root, gitDirs } = await findGatedCheckout(process.cwd())
  const [{ serveReport }, { readPlanToDecide }] = [
    await import('./report-server.ts'),
    await import('./report-decision.ts'),
  ]
  const again = withOwnCommand('plan-gate report --serve')
  const render = (token: string) => renderServedPage(root, gitDirs, { ...readPlanToDecide(root), token, again })
  const { url, codeUrl, ended } = await serveReport({ root, gitDirs, idleMs: idleMinutes * 60_000, render })
  if (terminal.json) terminal.out(JSON.stringify({ url, root, idle_minutes: idleMinutes } satisfies ServedOutput))
  terminal.note(`The report is at ${terminal.paint('bold', url)}`)
  terminal.note('Whoever has this address can decide for you, so keep it to yourself. Ctrl-C ends it.')
  if (flags.open) await openOrSay(codeUrl(), 'the address', terminal)
  const end = await ended
  switch (end.kind) {
    case 'decided':
      return terminal.note(end.words)
    case 'idle':
      return terminal.note(`Nobody has asked for ${idleMinutes} minutes, so the server has ended.`)
    case 'gone':
      return terminal.note('The worktree is gone, so the server has ended.')
    case 'code-used-twice':
      throw new UserError(
        'The link that was handed to the browser was used twice, so somebody else may have the token: the server has ended.',
        'Start it again without --open, and paste the address into the browser.',
        1,
      )
    case 'signal':
      process.exitCode = exitCodeOfSignal(end.signal)
  }
}

/** The first of the last is for WSL. */
const openers: { readonly [platform: string]: readonly (readonly [program: string, ...args: string[]])[] } = {
  darwin: [['open']],
  win32: [['rundll32', 'url.dll,FileProtocolHandler']],
  linux: [['wslview'], ['xdg-open']],
}

/** Null if it was opened, otherwise why not. */
async function openInBrowser(href: string): Promise<string | null> {
  let why = 'No program was found that opens a browser.'
  for (const [name, ...args] of openers[process.platform] ?? openers.linux ?? []) {
    const program = findProgram(name)
    if (program === null) continue
    const code = await startOpener(program, [...args, href])
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
