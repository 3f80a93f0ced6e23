import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { passTimesPath } from '../../../src/state/own-paths.ts'
import { readCounter } from '../../../src/state/revisions.ts'
import { readGitDirs } from '../../../src/system/git-dirs.ts'
import { reviewedWorktree } from '../../support/reviewed-worktree.ts'
import { type ResponsesRequest, saidBy } from '../../support/servers/responses-record.ts'

const way = (revision: number): string =>
  `Way ${revision}: the limit is kept in a table of its own, read once a request.`

/** 6.4 kB, and complex, so that it is worth all passes. */
const planOf = (revision: number): string => `# A limit for the login

## Goal

After five wrong passwords within ten minutes a login is refused for as long, and the test in \`test/login.test.ts\` shows it.

## Context

${Array.from({ length: 21 }, (_, n) => `- \`src/auth/login.ts:${10 + n}\` checks part ${n + 1} of the name and of the password, and is called by page ${n + 1} of the shop, which shows the words that it answers and keeps nothing of them.`).join('\n')}

## Approach

${way(revision)}

${Array.from({ length: 12 }, (_, n) => `${n + 1}. Step ${n + 1} adds the column \`c${n + 1}\` to the table, fills it for those who are there already, and lets page ${n + 1} read it; until the next step the pages go on as before, and each of their tests passes.`).join('\n')}

## Changes

- \`src/auth/login.ts\` (changed): the limit.
- \`src/app.ts\` (changed): it is asked for.

## Risks

Those who share an address are kept out together; the limit therefore counts names and not addresses.

## Open Questions

None.
`

const idsOf = (revision: number): string[] => [1, 2, 3, 4].map((n) => `F${4 * (revision - 1) + n}`)

/** Four a revision, each about something else, so that none is taken for another. */
const problems = [
  'A name of eighty letters does not fit into the column, so the insert throws and the page answers with an empty screen.',
  'Nobody deletes expired rows; after a year the lookup scans millions of them and every sign-in waits for seconds.',
  'Two servers disagree by a minute, and whoever is sent to the slower one gets extra guesses beyond the fifth.',
  'Capital letters make another key: Anna and anna are counted apart, which doubles what an attacker may try.',
  'When Redis restarts in the middle, the counter begins at zero although the customer was already shut out.',
  'The mobile application reads status 401 and never 429, therefore it loops until its battery is empty.',
  'An administrator cannot lift a lock by hand; support has to edit the database on a Friday evening.',
  'Password resets are checked by the same function and would be refused together with the sign-in itself.',
  'The migration runs before deployment, while old processes still write rows without the new mandatory field.',
  'Integration tests start at noon and finish after it; sleeping ten real minutes makes the pipeline time out.',
  'IPv6 users rotate through addresses, thus the proposed second key blocks nobody and costs an index.',
  'Error messages reveal whether an account exists, because only existing ones ever report being locked.',
  'A replayed cookie skips the check entirely: session renewal goes through refresh() in another module.',
  'Log lines contain the attempted secret in plain form as soon as the debug level is switched on.',
  'The nightly export joins that relation and would lock it exclusively for about forty minutes.',
  'Translations are missing for Polish and Dutch; the template renders a raw key instead of a sentence.',
  'Rounding down the remaining period shows zero minutes left during the last fifty-nine seconds.',
  'Partner shops authenticate through SOAP, a path which bypasses the middleware named in the outline.',
  'Rollback drops the structure without copying pending locks, releasing attackers at the worst moment.',
  'Monitoring has no alarm for a sudden thousandfold rise, so a broken form stays unnoticed overnight.',
]

/** Four findings about what is new, and what became of the four before. */
const answer = (revision: number): string =>
  JSON.stringify({
    context_summary: 'The login, its table and fourteen pages; nothing tests two requests at the same time.',
    complexity: { risk_area_count: 8, files_affected: 2, scope_category: 'high' },
    verdict: 'CHANGES_REQUIRED',
    is_optimal: false,
    summary: 'The way is sound as far as it goes, and leaves out four cases that will happen.',
    question: null,
    findings: problems
      .slice(4 * revision - 4, 4 * revision)
      .map((problem) => ({
        id: null,
        severity: 'major',
        section: '## Approach',
        problem,
        evidence: way(revision),
        fix: `Say under the approach what happens then and which test shows it, before the table is made. (${problem.slice(0, 40)})`,
      })),
    previous_findings: (revision === 1 ? [] : idsOf(revision - 1)).map((id) => ({
      id,
      status: 'fixed',
      reason: 'The paragraph that it was about has been replaced by another way.',
    })),
  })

const tokens = (text: string): number => Math.round(Buffer.byteLength(text) / 4)

/** In the order in which a service caches it: tools, schema, instructions, messages. */
const cachedOrder = ({ body }: ResponsesRequest): string =>
  [body.tools, body.text?.format?.schema, body.instructions, body.input].map((part) => JSON.stringify(part)).join('')

/** What no earlier request began with. */
function uncached(request: ResponsesRequest, earlier: readonly ResponsesRequest[]): number {
  const text = cachedOrder(request)
  const common = (other: string): number => {
    let at = 0
    while (at < text.length && text[at] === other[at]) at += 1
    return at
  }
  return tokens(text.slice(Math.max(0, ...earlier.map((each) => common(cachedOrder(each))))))
}

it('five revisions of a plan of 6.4 kB: at most 150,000 tokens, 60,000 of them not cached', async () => {
  let revision = 0
  const worktree = await reviewedWorktree(() => ({ kind: 'model', text: answer(revision) }), {
    'src/app.ts': 'export {}\n',
    'src/auth/login.ts': 'export const login = 1\n',
    'test/login.test.ts': '',
  })
  try {
    for (revision = 1; revision <= 5; revision += 1) {
      const told = await worktree.savePlan(planOf(revision))
      expect(told).toMatchObject({ decision: 'block', text: expect.stringContaining(`F${4 * revision}`) })
    }
    const { requests } = worktree.api
    const rows = requests.map((request, n) => {
      const task = /## (?:This pass: )?(.*)/.exec((saidBy(request, 'user').at(-1) ?? '').split('>>>').at(-1) ?? '')?.[1]
      return { task, total: tokens(JSON.stringify(request.body)), uncached: uncached(request, requests.slice(0, n)) }
    })
    const sum = (key: 'total' | 'uncached'): number => rows.reduce((all, row) => all + row[key], 0)
    console.table(rows)
    console.log(
      `plan ${planOf(1).length} bytes, ${rows.length} calls, ${sum('total')} tokens, ${sum('uncached')} not cached`,
    )
    expect(readCounter(worktree.root).value).toBe(5)
    const passes = rows.flatMap(({ task }) => (task === 'One more question' ? [] : [task]))
    expect(passes).toEqual([
      ...['understand', 'find', 'find', 'verify', 'verify'],
      ...[2, 3, 4, 5].flatMap(() => ['review what changed', 'verify']),
    ])
    // Both of this worktree and of this user, for the efforts and the forecasts of later reviews.
    const files = [
      join(readGitDirs(worktree.root)?.own ?? '', passTimesPath),
      join(worktree.home, 'cache/plan-gate/pass-times.json'),
    ]
    for (const file of files) {
      const times = JSON.parse(readFileSync(file, 'utf8')) as { [key: string]: unknown[] }
      expect([times['codex xhigh']?.length, times['codex high']?.length]).toEqual([7, 6])
    }
    expect(sum('total')).toBeLessThanOrEqual(150_000)
    expect(sum('uncached')).toBeLessThanOrEqual(60_000)
  } finally {
    worktree.remove()
  }
}, 120_000)
