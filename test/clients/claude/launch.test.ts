import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { execa } from 'execa'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { listSessions } from '../../../src/state/sessions.ts'
import { claudeBinary, codexBinary } from '../../support/claude-clients.ts'
import { cli } from '../../support/project.ts'
import { claudeEnv } from '../../support/run-claude.ts'
import { startMessagesApi } from '../../support/servers/messages-api.ts'
import { makeRepo } from '../../support/temporary-repo.ts'

/** One command, as a person types it: from a repository to the real Claude Code, with the real Codex beside it. */
describe('plan-gate bootstrap', () => {
  let folder: string
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'launch-')))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))

  it.each(['newest', 'oldest'] as const)(
    'starts the %s Claude Code under the gate and returns its exit code',
    async (client) => {
      const repo = makeRepo(join(folder, 'shop'), { 'idea.md': 'A greeting.\n' })
      const worktree = join(folder, 'shop-idea')
      await programs(join(folder, 'bin'), client)
      const home = join(folder, 'home')
      mkdirSync(join(home, '.codex'), { recursive: true })
      writeFileSync(
        join(home, '.codex/config.toml'),
        'model_provider = "fake"\n[model_providers.fake]\nname = "fake"\nbase_url = "http://127.0.0.1:9/v1"\n',
      )
      mkdirSync(join(home, 'tmp'))
      const api = await startMessagesApi({
        turns: [
          { tools: [{ name: 'Write', input: { file_path: join(worktree, 'src/new.ts'), content: 'x' } }] },
          { text: 'I see.' },
        ],
      })
      try {
        const env = {
          ...claudeEnv(home, api.url),
          PATH: `${join(folder, 'bin')}:${dirname(process.execPath)}:/usr/bin:/bin`,
          NO_COLOR: '1',
        }
        const flags = ['-p', '--permission-mode', 'bypassPermissions']
        const run = await execa(process.execPath, [cli, 'bootstrap', 'idea.md', '--', ...flags], {
          cwd: repo,
          env,
          extendEnv: false,
          reject: false,
          timeout: 60_000,
        })
        expect([run.exitCode, run.stdout]).toEqual([0, 'I see.'])
        expect(run.stderr).toMatch(/✓ reviewer {2}Codex CLI 0\.169\.0, with the provider fake/)
        expect(run.stderr).toMatch(/there is no plan yet; the gate is closed/)
        expect(JSON.stringify(api.requests[0]?.messages)).toMatch(/Plan with review[\s\S]*What is wanted: idea\.md/)
        const [refused] = api.record().toolResults
        expect(refused).toMatchObject({
          tool: 'Write',
          isError: true,
          text: expect.stringContaining('plan-gate: writing'),
        })
        expect(existsSync(join(worktree, 'src/new.ts'))).toBe(false)
        expect(listSessions(worktree)).toHaveLength(1)
        expect((await execa('git', ['status', '--porcelain'], { cwd: worktree })).stdout).toBe('')
      } finally {
        await api.close()
      }
    },
    90_000,
  )
})

async function programs(bin: string, client: 'newest' | 'oldest'): Promise<void> {
  mkdirSync(bin)
  symlinkSync(await claudeBinary(client), join(bin, 'claude'))
  writeFileSync(join(bin, 'codex'), `#!/bin/sh\nexec '${process.execPath}' '${await codexBinary()}' "$@"\n`)
  chmodSync(join(bin, 'codex'), 0o755)
}
