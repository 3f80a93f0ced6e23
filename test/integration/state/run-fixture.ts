import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { afterAll } from 'vitest'

export type Ended = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }

/** Runs `fixtures/<name>.ts` in a process of its own, on the real code. */
export async function runFixture(name: string, ...args: readonly string[]): Promise<Ended> {
  const child = startFixture(name, ...args)
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr?.on('data', (chunk) => {
    stderr += chunk
  })
  const [code, signal] = await once(child, 'close')
  if (code !== 0 && signal !== 'SIGKILL') throw new Error(`${name} ended with ${code ?? signal}: ${stderr}`)
  return { code, signal, stdout, stderr }
}

export function startFixture(name: string, ...args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [join(programs(), `${name}.mjs`), ...args])
  started.push(child)
  return child
}

const started: ChildProcess[] = []

/** Two cores: more at a time would only wait for each other. */
export async function inPairs<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items]
  const worker = async () => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await work(item)
  }
  await Promise.all([worker(), worker()])
}

let built: string | undefined

/** Bundled once, because hundreds are started and tsx takes five times as long to start as node. */
function programs(): string {
  if (built !== undefined) return built
  const fixtures = fileURLToPath(new URL('fixtures/', import.meta.url))
  built = mkdtempSync(join(tmpdir(), 'plan-gate-fixtures-'))
  buildSync({
    entryPoints: readdirSync(fixtures)
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(fixtures, name)),
    outdir: built,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    platform: 'node',
    format: 'esm',
  })
  return built
}

afterAll(() => {
  // Those of a test that timed out.
  for (const child of started) child.kill('SIGKILL')
  if (built !== undefined) rmSync(built, { recursive: true, force: true })
  built = undefined
})
