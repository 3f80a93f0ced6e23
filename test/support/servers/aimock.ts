import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { installLocked } from '../install-locked.ts'
import { cleanEnvironment, temporaryFolder } from '../temporary-repo.ts'

/** A mock of OpenAI's API that is not ours, in a process of its own, until the test ends; it answers all with one text. */
export async function startAimock(content: string, { keys = '' }: { readonly keys?: string } = {}): Promise<string> {
  const folder = await installLocked('aimock')
  const fixtures = join(temporaryFolder(), 'fixtures.json')
  writeFileSync(fixtures, JSON.stringify({ fixtures: [{ match: {}, response: { content } }] }))
  const program = join(folder, 'node_modules', '@copilotkit', 'aimock', 'dist', 'cli.js')
  const server = spawn(process.execPath, [program, '--port', '0', '--fixtures', fixtures], {
    env: { ...cleanEnvironment(), ...(keys === '' ? {} : { AIMOCK_API_KEYS: keys }) },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 60_000,
  })
  onTestFinished(() => void server.kill('SIGKILL'))
  for await (const line of createInterface({ input: server.stdout })) {
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0]
    if (url !== undefined) return url
  }
  throw new Error('aimock ended before it listened')
}
