import { finding } from '../../support/plan/findings.ts'
import { keepHistory } from '../../support/report/keep-history.ts'

const revisions = 50
const bytes = 200_000

/** As long as a history gets: each revision of 200 kB differs from the one before in sixty places. */
export async function keepLongHistory(root: string): Promise<void> {
  const history = keepHistory(root, '2026-03-03T09:00:00Z')
  const random = randomNumbers(1)
  let made = 0
  const line = (): string => {
    made += 1
    return made % 12 === 0
      ? `## Part ${made}`
      : `Line ${made} ${words.map((word) => word.repeat(1 + random(2))).join(' ')}`
  }
  const lines = ['# Plan']
  for (let length = 0; length < bytes; length += (lines.at(-1) ?? '').length + 1) lines.push(line())
  for (let number = 1; number <= revisions; number += 1) {
    for (let change = 0; change < 60; change += 1)
      lines.splice(1 + random(lines.length - 1), random(2), ...Array.from({ length: random(2) }, line))
    await history.review({
      plan: `${lines.join('\n')}\n`,
      verdict: 'CHANGES_REQUIRED',
      findings: ids.map((id) => finding(`F${number}${id}`, { section: `line ${100 + id * 200}` })),
      previous: number === 1 ? [] : ids.map((id) => ({ id: `F${number - 1}${id}`, status: 'fixed', reason: 'Fixed.' })),
      passes: [{ does: 'plan', ms: 30_000, tokens: 20_000 }],
    })
  }
}

const ids = [0, 1, 2, 3, 4, 5, 6, 7]
const words = 'the plan counts wrong passwords by account and address so that all instances agree'.split(' ')

/** The same numbers each time. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
}
