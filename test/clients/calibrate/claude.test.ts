import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, it } from 'vitest'
import { claudeBinary, codexBinary } from '../../support/claude-clients.ts'
import { codexConfig } from '../../support/codex-config.ts'
import { finding, verdict } from '../../support/plan-texts.ts'
import { fakeKey } from '../../support/reviewer-fixture.ts'
import { runCli } from '../../support/run-cli.ts'
import { startMessagesApi } from '../../support/servers/messages-api.ts'
import { startResponsesApi } from '../../support/servers/responses-api.ts'
import { temporaryFolder, temporaryRepo, write } from '../../support/temporary-repo.ts'

/** The built command, the real Claude Code as the reviewer and the real Codex as the judge, each with a scripted model. */
it('measures the real Claude Code, and has the real Codex decide what code cannot', async () => {
  /** Right, and placed where the defect is not. */
  const misplaced = (path: string) => finding(`There is no ${path}.`, { section: '## Risks', evidence: 'ls' })
  const said = { context_summary: null, complexity: null }
  const reviewer = await startMessagesApi({
    isOnlyCaller: true,
    turns: (request) => {
      const [path] =
        /[\w/]+-(?:service|store|core|model|api|handlers|helpers|base)(?:\.\w+)+/.exec(JSON.stringify(request)) ?? []
      const answer = verdict(
        path === undefined ? { verdict: 'APPROVED' } : { verdict: 'CHANGES_REQUIRED', findings: [misplaced(path)] },
      )
      return { tools: [{ name: 'StructuredOutput', input: { ...(JSON.parse(answer.text) as object), ...said } }] }
    },
  })
  const judge = await startResponsesApi({
    turns: ({ body }) => {
      const pairs = JSON.stringify(body).match(/\\"pair\\": \d+,/g)?.length ?? 0
      const answers = Array.from({ length: pairs }, (_, n) => ({ pair: n + 1, same: true }))
      return { kind: 'model', text: JSON.stringify({ answers }) }
    },
  })
  try {
    const home = temporaryFolder()
    for (const name of ['.codex', 'bin']) mkdirSync(join(home, name))
    symlinkSync(await claudeBinary('newest'), join(home, 'bin', 'claude'))
    symlinkSync(await codexBinary(), join(home, 'bin', 'codex'))
    write(home, { '.codex/config.toml': codexConfig(judge.url) })
    const rows = ['claude', 'codex'].map((name) => `    - {backend: ${name}, when: [always], fail_mode: hard_fail}\n`)
    const cwd = temporaryRepo('shop', { 'plan-gate.yaml': `review:\n  routes:\n${rows.join('')}` })
    const env = {
      HOME: home,
      TMPDIR: home,
      CODEX_HOME: join(home, '.codex'),
      FAKE_KEY: fakeKey,
      ANTHROPIC_BASE_URL: reviewer.url,
      ANTHROPIC_API_KEY: fakeKey,
      PATH: [join(home, 'bin'), process.env.PATH ?? '/usr/bin:/bin'].join(delimiter),
    }
    const choice = ['--classes', 'path-missing', '--plans', '1', '--repeat', '1', '--fast', '--only-shipped']
    const args = ['calibrate', '--routes', 'claude', '--judge', 'codex', ...choice, '--yes', '--json']
    const { stdout } = await runCli(args, { cwd, env })
    expect(JSON.parse(stdout)).toMatchObject({
      complete: true,
      cells: [{ name: 'claude', reviews: 4, failed: 0, recall: { hits: 1, of: 1 }, false_blocks: { hits: 0, of: 3 } }],
      judge: { route: 'codex', kappa: 0 },
    })
    // Nobody resumes what was asked once.
    expect(existsSync(join(home, '.cache/plan-gate/claude-sessions'))).toBe(false)
    const sent = JSON.stringify(reviewer.requests)
    for (const word of ['path-missing', 'mutat', 'calibrat']) expect(sent).not.toContain(word)
  } finally {
    await Promise.all([reviewer.close(), judge.close()])
  }
}, 120_000)
