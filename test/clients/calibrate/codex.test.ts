import { mkdirSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, it } from 'vitest'
import type { Calibration } from '../../../src/schemas/calibration.ts'
import { codexBinary } from '../../support/claude-clients.ts'
import { codexConfig } from '../../support/codex-config.ts'
import { finding, verdict } from '../../support/plan-texts.ts'
import { fakeKey } from '../../support/reviewer-fixture.ts'
import { runCli } from '../../support/run-cli.ts'
import { startResponsesApi } from '../../support/servers/responses-api.ts'
import { saidBy } from '../../support/servers/responses-record.ts'
import { cleanEnvironment, temporaryFolder, temporaryRepo, write } from '../../support/temporary-repo.ts'

/** The built command, the real Codex, and a model that looks around and misses a way back. */
it('measures the real Codex, which stands in the sample project and sees nothing else', async () => {
  const listings: string[] = []
  const api = await startResponsesApi({
    turns: (request) => {
      const all = JSON.stringify(request.body)
      const listing = /\.\/docs\/plan\.md[^"]*/.exec(all.slice(all.lastIndexOf('function_call_output')))?.[0]
      if (!all.includes('function_call_output'))
        return { kind: 'model', calls: [{ name: 'exec_command', arguments: { cmd: 'pwd; find . -type f | sort' } }] }
      if (listing !== undefined) listings.push(all.slice(all.lastIndexOf('function_call_output')))
      const prompt = saidBy(request, 'user').join('\n')
      const missing = finding('There is no way back: the migration cannot be undone.', {
        section: '## Risks',
        evidence: 'Risks.',
      })
      return prompt.includes('Way back')
        ? verdict({ verdict: 'APPROVED' })
        : verdict({ verdict: 'CHANGES_REQUIRED', findings: [missing] })
    },
  })
  try {
    const home = temporaryFolder()
    for (const name of ['.codex', 'bin']) mkdirSync(join(home, name))
    symlinkSync(await codexBinary(), join(home, 'bin', 'codex'))
    write(home, { '.codex/config.toml': codexConfig(api.url) })
    const rows = '    - {backend: codex, when: [codex_available], fail_mode: hard_fail}\n'
    const cwd = temporaryRepo('shop', { 'plan-gate.yaml': `review:\n  routes:\n${rows}` })
    const env = {
      HOME: home,
      CODEX_HOME: join(home, '.codex'),
      FAKE_KEY: fakeKey,
      PATH: `${join(home, 'bin')}${delimiter}${cleanEnvironment().PATH}`,
    }
    const args = [
      'calibrate',
      '--classes',
      'rollback-removed',
      '--plans',
      '2',
      '--repeat',
      '1',
      '--fast',
      '--yes',
      '--only-shipped',
    ]
    const { stdout } = await runCli([...args, '--json'], { cwd, env })
    expect(JSON.parse(stdout)).toMatchObject({
      complete: true,
      cells: [
        {
          name: 'codex',
          reviews: 8,
          failed: 0,
          recall: { hits: 2, of: 2 },
          held: { hits: 2, of: 2 },
          false_blocks: { hits: 0, of: 6 },
        },
      ],
    } satisfies { complete: boolean; cells: object[] })
    expect(api.requests).toHaveLength(16)
    const sent = api.requests.map(({ body }) => JSON.stringify(body)).join('\n')
    for (const word of ['rollback-removed', 'mutat', 'calibrat', 'There is no way back any more'])
      expect(sent).not.toContain(word)
    expect(listings).toHaveLength(8)
    for (const listing of listings) {
      expect(listing).toContain('./src/orders.ts')
      expect(listing).not.toContain('labelled')
    }
    const table = await runCli(args, { cwd, env })
    expect(table.stdout).toMatch(/^codex +1\.00 \(/m)
    expect(api.requests).toHaveLength(16)
    expect((JSON.parse(stdout) as Calibration).proposal).toBeNull()
  } finally {
    await api.close()
  }
}, 120_000)
