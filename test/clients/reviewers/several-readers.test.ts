import { mkdirSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, it } from 'vitest'
import { startOpenAiHttp } from '../../support/servers/openai-http.ts'
import { withClaude } from '../../support/with-claude.ts'
import { withCodex } from '../../support/with-codex.ts'
import { answer, finding } from '../../unit/review/reviewer-answers.ts'
import { reviewPlace } from '../cli/review-place.ts'

const lost = finding('The rows that were written before are lost.', { section: 'Approach' })
const text = (more: Parameters<typeof answer>[0]): string => {
  const said = answer(more)
  const complexity = { risk_area_count: 0, files_affected: 1, scope_category: 'low' }
  return JSON.stringify({ ...said, is_optimal: said.verdict === 'APPROVED', complexity })
}
const approval = text({})
const objection = text({ verdict: 'CHANGES_REQUIRED', findings: [lost] })

const plan =
  '# Plan\n\n## Goal\nOne.\n\n## Context\nTwo.\n\n## Approach\nThree.\n\n## Changes\n- `src/app.ts`: four.\n\n## Risks\nNone.\n\n## Open Questions\nNone.\n'

/** The real Codex and the real Claude Code beside a local server that never answers. */
it('Codex and Claude Code read one plan; a third that hangs holds nobody up, and what Claude found is its own to withdraw', () =>
  withCodex({ turns: [{ kind: 'model', text: approval }] }, (codex) =>
    withClaude(
      {
        turns: [objection, objection].map((input) => ({
          tools: [{ name: 'StructuredOutput', input: JSON.parse(input) }],
        })),
      },
      async (claude) => {
        const silent = await startOpenAiHttp(() => {})
        const programs = join(codex.folder, 'programs')
        mkdirSync(programs)
        symlinkSync(codex.program, join(programs, 'codex'))
        symlinkSync(claude.program, join(programs, 'claude'))
        const place = reviewPlace(
          {
            'plan-gate.yaml': `review:
  readers: [codex, claude, local]
  routes:
    - {backend: codex, when: [codex_available]}
    - {backend: claude, when: [claude_available]}
    - {backend: curl, name: local, when: [always], model: m, base_url: '${silent.url}/v1'}
`,
            'docs/plan.md': plan,
          },
          {
            ...codex.env,
            ...claude.env,
            CODEX_HOME: codex.codexHome,
            PATH: [programs, claude.env.PATH].join(delimiter),
          },
        )
        const { stdout } = await place.review(['--type', 'plan', '--content', 'docs/plan.md', '--json'])
        const { verdict, findings, notices, pass_metadata: meta } = JSON.parse(stdout)
        expect({ verdict, findings }).toMatchObject({
          verdict: 'CHANGES_REQUIRED',
          findings: [{ id: 'F1', problem: lost.problem, sources: ['claude'] }],
        })
        expect(meta.readers.map(({ name, verdict }: { name: string; verdict: string }) => [name, verdict])).toEqual([
          ['codex', 'APPROVED'],
          ['claude', 'CHANGES_REQUIRED'],
          ['local', null],
        ])
        expect(notices.join('\n')).toContain('The reader local has not answered: it was not waited for any longer')
        // Each once for the plan; Codex verifies what was found, and Claude what Codex dropped.
        expect([codex.api.requests.length, claude.api.requests.length, silent.received.length]).toEqual([2, 2, 1])
        expect(codex.processes()).toEqual([])
        expect(claude.processes()).toEqual([])
      },
    ),
  ))
