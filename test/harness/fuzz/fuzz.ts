import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { installLocked } from '../../support/install-locked.ts'
import { keepRegressions } from './regressions.ts'
import { reportOf } from './report.ts'
import { type Outcome, realShareOf, runTargets, sumOf } from './run-targets.ts'
import type { Confirmed } from './target.ts'
import { targets } from './targets/all.ts'

const help = `npm run fuzz -- [options]

Looks for inputs that throw, hang, break a property, or are allowed although the real program does more than read.

  --minutes N     how long in all (10)
  --inputs N      enough for a target (no limit); of command lines ten times as many
  --target NAME   only this one; may be repeated
  --seed S        the same inputs again (the time)
  --jobs N        so many processes (2)
  --report FILE   writes the table there, too

npm run fuzz -- --minutes 5 --target command
npm run fuzz -- --minutes 1 --target plan --seed 7

Targets: ${targets.map(({ name }) => name).join(', ')}
What is found is added to test/harness/fuzz/regressions/<target>.json; it ends with 1 then, and with 2 where it was called wrongly.`

const options = {
  minutes: { type: 'string', default: '10' },
  inputs: { type: 'string', default: 'Infinity' },
  target: { type: 'string', multiple: true },
  seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  jobs: { type: 'string', default: '2' },
  report: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const

process.exitCode = await main()

async function main(): Promise<number> {
  const asked = readArguments()
  if (typeof asked === 'string') {
    console.error(`${asked}\n\n${help}`)
    return 2
  }
  if (asked.help) {
    console.log(help)
    return 0
  }
  const chosen = targets.filter(({ name }) => asked.target?.includes(name) ?? true)
  const [minutes, inputs, seed, jobs] = [asked.minutes, asked.inputs, asked.seed, asked.jobs].map(Number) as [
    number,
    number,
    number,
    number,
  ]
  for (const name of ['yaml-readers', 'clients'])
    await installLocked(name).catch((error: Error) => console.error(`${name} could not be installed: ${error.message}`))
  console.log(`seed ${seed}: ${chosen.length} targets, ${minutes} minutes, ${jobs} processes`)
  const until = performance.now() + minutes * 60_000
  const outcomes = await runTargets(chosen, { minutes, inputs, seed, jobs, tell: (line) => console.log(line) })
  const confirmed: (Confirmed & { readonly name: string })[] = []
  for (const [at, target] of chosen.entries()) {
    const { name, confirm } = target
    const found = outcomes.find((outcome) => outcome.name === name)?.found ?? []
    if (confirm === undefined || found.length === 0) continue
    console.log(`${name}: ${found.length.toLocaleString('en-US')} allowed inputs go before the real program`)
    const left = Math.max(0, until - performance.now()) / 1_000
    const seconds = Math.max(10, (left * realShareOf(target)) / sumOf(chosen.slice(at), realShareOf))
    confirmed.push({ name, ...(await confirm(found, seconds)) })
  }
  const report = reportOf(outcomes, confirmed, seed)
  console.log(report)
  if (asked.report !== undefined) writeFileSync(asked.report, `${report}\n`)
  const failing = keep([...outcomes, ...confirmed])
  const broken = outcomes.flatMap(({ name, broken }) => (broken === null ? [] : [`${name}: ${broken}`]))
  for (const line of broken) console.log(line)
  return failing || broken.length > 0 ? 1 : 0
}

function readArguments() {
  try {
    const { values } = parseArgs({ options })
    const unknown = (values.target ?? []).find((name) => !targets.some((target) => target.name === name))
    if (unknown !== undefined) return `There is no target ${unknown}.`
    const numbers = [values.minutes, values.inputs, values.seed, values.jobs]
    return numbers.every((number) => Number(number) >= 0) ? values : 'Minutes, inputs, seed and jobs are numbers.'
  } catch (error) {
    return (error as Error).message
  }
}

/** Whether there are any. */
function keep(outcomes: readonly Pick<Outcome, 'name' | 'failures'>[]): boolean {
  const failing = outcomes.filter(({ failures }) => failures.length > 0)
  for (const { name, failures } of failing) {
    for (const { input, why } of failures)
      console.log(`\n${name}: ${JSON.stringify(input).slice(0, 500)}\n  ${why.slice(0, 1_000)}`)
    console.log(`kept in ${keepRegressions(name, failures)}`)
  }
  return failing.length > 0
}
