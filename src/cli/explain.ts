import { createInterface } from 'node:readline'
import { defaultConfig } from '../config/schema.ts'
import { type BashPolicy, checkCommand, checkPlainCommand } from '../gate/bash/check-command.ts'
import { readLine } from '../gate/bash/parse.ts'
import { gitKeys, surroundings } from '../gate/check-commands.ts'
import { readPlanScope } from '../gate/scope.ts'
import { compileConfig } from '../install/compile-config.ts'
import type { Explained } from '../schemas/output.ts'
import { readRegular } from '../state/files.ts'
import { planPath } from '../state/own-paths.ts'
import { UserError } from '../system/errors.ts'
import { findCheckout } from '../system/repository.ts'
import { isOutputClosed, type Run } from './command.ts'
import { checkoutHere } from './config.ts'
import type { Terminal } from './terminal.ts'

export const explainCommand: Run<'explain'> = async ({ plan, stdin }, terminal, [command]) => {
  if (plan) return explainPlan(terminal)
  const policy = await policyHere()
  if (stdin) return explainLines(policy)
  if (command === undefined)
    throw new UserError(
      'There is no command to explain.',
      "Give it as one word: plan-gate explain 'git log | head', or use --stdin.",
    )
  const explained = explain(command, policy)
  terminal.answer(explained, `${explained.decision}: ${explained.reason}`)
  process.exitCode = explained.decision === 'allow' ? 0 : 1
}

/** As in the gate: plain commands first, the parser for the rest. */
function explain(command: string, policy: BashPolicy): Explained {
  const verdict = checkPlainCommand(command, policy) ?? checkCommand(command, policy, readLine)
  return verdict.kind === 'allow'
    ? { command, decision: 'allow', reason: 'Every part of it only reads.' }
    : { command, decision: 'deny', reason: verdict.reason }
}

/** As in the gate: the configuration of the checkout, and an invalid one allows nothing. Outside of one, the defaults. */
async function policyHere(): Promise<BashPolicy> {
  const checkout = await checkoutHere(process.cwd())
  const root = checkout?.root ?? process.cwd()
  const { config, problems } = checkout === null ? { config: defaultConfig, problems: [] } : compileConfig(root)
  if (problems.length > 0)
    throw new UserError(
      `plan-gate.yaml is not valid, so the gate allows nothing:\n${problems.map((line) => `  ${line}`).join('\n')}`,
      'Fix these lines.',
    )
  const { compound, allow: allowed } = config.gate.bash
  return { compound, allowed, ...gitKeys(root, checkout?.gitDirs ?? null), ...surroundings(root, root) }
}

async function explainLines(policy: BashPolicy): Promise<void> {
  let line = 0
  for await (const text of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    line += 1
    if (isOutputClosed()) return
    if (text.trim() === '') continue
    process.stdout.write(`${JSON.stringify(explain(commandIn(text, line), policy))}\n`)
  }
}

function commandIn(text: string, line: number): string {
  try {
    const { command } = JSON.parse(text) as { command?: unknown }
    if (typeof command === 'string') return command
  } catch {
    // As any other line that is none.
  }
  throw new UserError(`Line ${line} is not a JSON object with a "command".`, 'Write each as {"command": "git status"}.')
}

async function explainPlan(terminal: Terminal): Promise<void> {
  const { root } = await findCheckout(process.cwd())
  const read = readRegular(root, planPath)
  if (read.kind !== 'read')
    throw new UserError(
      read.kind === 'absent' ? `There is no ${planPath} here.` : `${planPath} cannot be used: ${read.why}.`,
      'Write a plan first (the skill plan-with-review).',
    )
  const scope = readPlanScope(read.bytes.toString('utf8'))
  if (terminal.json) return terminal.answer({ scope }, [])
  if (scope.length === 0)
    return terminal.out('## Changes has no readable entry. Write paths in backticks, one per entry.')
  for (const { pattern, mark, line } of scope)
    terminal.out(`${pattern.padEnd(40)} ${mark.padEnd(9)} ${terminal.paintOut('dim', `line ${line}`)}`)
}
