import type { Finding } from '../../../src/schemas/review.ts'
import { firstPlan, secondPlan, thirdPlan } from './example-plans.ts'
import { keepHistory } from './keep-history.ts'

/** The history that the pictures show: a cycle approved by hand, and one that took three revisions. */
export async function keepExample(root: string): Promise<void> {
  const history = keepHistory(root, '2026-03-03T09:12:04Z')
  await history.event({ type: 'installed', version: '0.1.0' })
  history.wait(95)
  history.session('5f0c2d4e-8a51-4c3b-9d4e-2f1f6f0a7b11', [
    {
      tool: 'Write',
      target: 'src/auth/attempt-counter.ts',
      rule: 'no-plan',
      reason: 'There is no plan yet. Write docs/plan.md; it is reviewed as you save it.',
    },
    {
      tool: 'Bash',
      target: 'npm install ioredis-mock',
      rule: 'not-read-only',
      reason: '`npm` is not on the list of commands that only read.',
    },
  ])
  history.wait(70)
  await history.review({
    plan: firstPlan.replace('Count wrong passwords in the memory of the process, by account name.', 'Count.'),
    verdict: 'CHANGES_REQUIRED',
    summary: 'The goal is clear. How the attempts are counted is not said at all, so the plan cannot be checked.',
    findings: [approach],
    passes: [{ does: 'plan', ms: 31_400, tokens: 14_210 }],
  })
  history.wait(240)
  await history.approveByHand('Only a spike; the real plan follows.')
  history.wait(1_900)
  await history.endCycle('docs/plan.md was changed after its approval')
  history.session('b7a1e6c0-1d2f-4f6a-8f3e-9c0d1e2f3a4b', [
    {
      tool: 'Write',
      target: 'src/auth/attempt-counter.ts',
      rule: 'plan-not-approved',
      reason: 'The plan is not approved yet: it is under review, or its findings are open.',
    },
    {
      tool: 'Bash',
      target: 'git checkout -b limit-sign-in',
      rule: 'not-read-only',
      reason: '`git checkout` is not one of the git commands that only read.',
    },
    {
      tool: 'Bash',
      target: "python3 -c \"open('src/auth/sign-in.ts','a')\"",
      rule: 'not-read-only',
      reason: '`python3` is not on the list of commands that only read.',
    },
    {
      tool: 'Write',
      target: '.claude/review/approval.json',
      rule: 'control-plane',
      reason: 'This file decides whether the gate holds; no tool may write it.',
    },
  ])
  await history.event({ type: 'thread-started', thread: '019d2a4c-7e11-7b3c-9a3e-5d2f6f0a7b11' })
  await history.review({
    plan: firstPlan,
    verdict: 'CHANGES_REQUIRED',
    summary:
      'The goal and the order of the steps are sound. Counting in the memory of one process does not reach the goal, since the service runs in several instances; and what happens when the counter itself fails is not said.',
    findings: [memory, tests, verification],
    verification: 'passed',
    passes: [
      { does: 'plan', ms: 38_200, tokens: 16_904 },
      { does: 'review', ms: 84_700, tokens: 31_377 },
      { does: 'verify', ms: 41_300, tokens: 18_020 },
    ],
  })
  history.wait(410)
  await history.noReview(
    secondPlan,
    'rate-limited',
    'Codex answered 429 three times; it may be asked again in a minute.',
  )
  history.wait(80)
  await history.review({
    plan: secondPlan,
    verdict: 'CHANGES_REQUIRED',
    summary:
      'The counter is shared now, and an outage no longer locks anybody out. Two commands that must happen together can still be torn apart, which leaves an account locked for good.',
    findings: [atomic, alert, { ...verification, severity: 'minor' }],
    previous: [
      { id: 'F1', status: 'fixed', reason: 'The count is in Redis, which all instances share.' },
      {
        id: 'F2',
        status: 'rejected',
        reason: 'The lock-out is limited to one address, which the plan now argues under Risks.',
      },
      { id: 'F3', status: 'not_fixed', reason: 'The commands are still run against a fake.' },
    ],
    late: ['F5'],
    verification: 'passed',
    notices: ['F5 is new and concerns text that has not changed since the last review: recorded as advice.'],
    passes: [
      { does: 'plan', ms: 29_800, tokens: 21_455 },
      { does: 'review', ms: 61_000, tokens: null, outcome: 'malformed', why: 'the answer has no verdict' },
      { does: 'review', ms: 73_500, tokens: 35_118 },
      { does: 'verify', ms: 33_900, tokens: 19_806 },
    ],
  })
  history.wait(530)
  await history.review({
    plan: thirdPlan,
    verdict: 'APPROVED',
    summary:
      'Everything that kept the plan from being carried out is fixed: both commands go in one transaction, the tests run against a real Redis, and an outage is seen.',
    findings: [{ ...size, severity: 'advice' }],
    previous: [
      { id: 'F3', status: 'fixed', reason: 'The tests run against a real Redis.' },
      { id: 'F4', status: 'fixed', reason: 'INCR and EXPIRE go in one MULTI.' },
      { id: 'F5', status: 'fixed', reason: 'An alert fires after a minute.' },
    ],
    verification: 'passed',
    passes: [
      { does: 'plan', ms: 27_100, tokens: 24_630 },
      { does: 'review', ms: 58_400, tokens: 33_902 },
      { does: 'verify', ms: 29_600, tokens: 17_344 },
    ],
  })
}

const of = (
  id: string,
  severity: Finding['severity'],
  section: string,
  problem: string,
  evidence: string,
  fix: string,
): Finding => ({ id, severity, section, problem, evidence, fix })

const approach = of(
  'F1',
  'critical',
  '## Approach',
  'How attempts are counted, and where, is not said.',
  '"Count."',
  'Say what is counted, by what key, where it is kept and when it ends.',
)
const memory = of(
  'F1',
  'critical',
  '## Approach',
  'The service runs in four instances behind a balancer. A count in the memory of one of them lets an attacker have twenty attempts instead of five, and a restart forgets all of them.',
  '`Count wrong passwords in the memory of the process` against `src/store/redis.ts`, which the Context itself calls the only shared store.',
  'Count in Redis, with a key that expires.',
)
const tests = of(
  'F2',
  'major',
  '## Risks',
  'That somebody can lock out somebody else is named and then left: anybody who knows an account name can keep its owner out for good.',
  '`Somebody can lock out somebody else on purpose.`',
  'Count by account and address, or say why the risk is accepted.',
)
const verification = of(
  'F3',
  'major',
  '## Verification',
  'What decides is how two instances behave against one store, and a unit test with a fake cannot show that.',
  '`npm test -- test/auth`',
  'Run these tests against a real Redis.',
)
const atomic = of(
  'F4',
  'critical',
  '## Approach',
  'If the process dies between INCR and EXPIRE the key never ends, and the account stays locked until somebody deletes it by hand.',
  '`Each key expires fifteen minutes after its first wrong password.`',
  'Send both in one MULTI, or set the expiry with the first increment.',
)
const alert = of(
  'F5',
  'advice',
  'line 27',
  'Without a limit during an outage nobody notices that the protection is gone.',
  '',
  'Raise an alert when it lasts.',
)
const size = of(
  'F6',
  'advice',
  'src/auth/attempt-counter.ts',
  'Counting and answering in one file will be split sooner or later.',
  '',
  'Keep the key names in a module of their own.',
)
