import { spawn } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { findProgram } from '../system/find-program.ts'

type Opener = readonly [program: string, ...args: string[]]

const openers: { readonly [platform: string]: readonly Opener[] } = {
  darwin: [['open']],
  win32: [['rundll32', 'url.dll,FileProtocolHandler']],
}
/** In a Windows of its own, Linux has the first. */
const others: readonly Opener[] = [['wslview'], ['xdg-open']]

/** With the platform's own opener. Null when it was opened, or why not. */
export async function openInBrowser(path: string): Promise<string | null> {
  let why = 'There is no program here that opens a browser.'
  for (const [name, ...args] of openers[process.platform] ?? others) {
    const program = findProgram(name)
    if (program === null) continue
    const code = await run(program, [...args, pathToFileURL(path).href])
    if (code === 0) return null
    why = `${name} could not open it (exit code ${code}).`
  }
  return why
}

/** An opener that is still there after this long is the browser itself, or talks to it. */
const patienceMs = 2_000

function run(program: string, args: readonly string[]): Promise<number> {
  const opener = spawn(program, args, { detached: true, stdio: 'ignore' })
  opener.unref()
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(0), patienceMs)
    const end = (code: number): void => {
      clearTimeout(timer)
      resolve(code)
    }
    opener.once('error', () => end(127))
    opener.once('exit', (code) => end(code ?? 1))
  })
}
