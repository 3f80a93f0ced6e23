import type { ChildProcessByStdio } from 'node:child_process'
import { request } from 'node:http'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { startCli } from '../run-cli.ts'

type Asked = {
  readonly method?: string
  readonly headers?: { readonly [name: string]: string }
  readonly body?: string
}
type Told = { readonly status: number; readonly headers: { readonly [name: string]: unknown }; readonly body: string }

export type ServedReport = {
  readonly url: string
  readonly origin: string
  readonly token: string
  readonly child: ChildProcessByStdio<null, Readable, Readable>
  /** How it ended, and what it said to people. */
  readonly ended: Promise<{ readonly code: number | null; readonly stderr: string }>
  readonly ask: (path: string, asked?: Asked) => Promise<Told>
  /** As the page does it. */
  readonly decide: (decision: object) => Promise<{ status: number; ok: boolean; words: string; next: string }>
}

/** The built `plan-gate report --serve --json`, ended with the test. */
export async function servedReport(root: string, env: { readonly [name: string]: string } = {}): Promise<ServedReport> {
  const child = startCli(['report', '--serve', '--json'], { cwd: root, env })
  onTestFinished(() => void child.kill('SIGKILL'))
  const stderr = text(child.stderr)
  const code = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const [first] = (await child.stdout.take(1).toArray()) as Buffer[]
  if (first === undefined) throw new Error(`it printed no address: ${await stderr}`)
  const { url } = JSON.parse(first.toString()) as { url: string }
  const { origin, searchParams } = new URL(url)
  const token = searchParams.get('token') ?? ''
  const ask = (path: string, { method = 'GET', headers = {}, body }: Asked = {}): Promise<Told> =>
    new Promise((resolve, reject) => {
      const asked = request(new URL(path, origin), { method, headers, timeout: 20_000 }, (response) => {
        text(response).then(
          (said) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: said }),
          reject,
        )
      })
      asked.once('error', reject)
      asked.end(body)
    })
  const decide: ServedReport['decide'] = async (decision) => {
    const headers = { origin, 'content-type': 'application/json', 'x-plan-gate-token': token }
    const { status, body } = await ask('/decision', { method: 'POST', headers, body: JSON.stringify(decision) })
    return { status, ...(JSON.parse(body) as { ok: boolean; words: string; next: string }) }
  }
  return {
    url,
    origin,
    token,
    child,
    ended: Promise.all([code, stderr]).then(([c, s]) => ({ code: c, stderr: s })),
    ask,
    decide,
  }
}
