import { checkPlainCommand } from '../../../../src/gate/bash/check-command.ts'
import type { BashVerdict } from '../../../../src/gate/bash/refusal.ts'
import { checkWithParser, policy, readLineHere } from '../../../support/gate/bash/check-with-parser.ts'
import { dangerous, operands } from '../../../support/gate/bash/command-words.ts'
import { pieces } from '../../../support/gate/bash/pieces.ts'
import { families } from '../../../support/gate/bash/rows/all.ts'
import { checkForReal } from '../check-for-real.ts'
import { makeCommandLine } from '../grammar/command-line.ts'
import { languages } from '../grammar/languages.ts'
import { contradictions } from '../oracle/contradictions.ts'
import { shapeOf } from '../oracle/shape-of.ts'
import { demand, type Failure, type Opened, same, type Target } from '../target.ts'

const rows = Object.values(families).flatMap(({ allow, deny }) => [...allow, ...Object.values(deny).flat()])
const words = [...pieces, ...dangerous, ...operands, ...operands.map((word) => ` ${word} `)]

/** `gate/bash`: whether a command line only reads. What is allowed is put before real shells, and then really run. */
const command: Target = {
  name: 'command',
  seeds: rows,
  pieces: words,
  make: makeCommandLine,
  confirm: checkForReal,
  open: () => openGate(shapeOf, contradictions),
}

/** The same for the languages of four programs: every program that is allowed is run, not one of each shape. */
const programs = Object.entries(languages)
  .filter(([name]) => name !== 'git')
  .map(
    ([name, call]): Target => ({
      name,
      seeds: rows.filter((line) => line.startsWith(`${name} `)),
      pieces: words,
      make: (random) => `${name} ${call(random)}`,
      confirm: checkForReal,
      open: () => openGate(programIn),
    }),
  )

export const commandLines: readonly Target[] = [command, ...programs]

/** The words of a line, however they are quoted and whatever file they read. */
const programIn = (line: string): string => {
  const read = readLineHere(line)
  const words =
    read.kind === 'line' ? read.parts.flatMap((part) => [...part.words.map(({ text }) => text), '']) : [line]
  return words.map((word) => (files.includes(word) ? 'file' : word)).join('\0')
}
const files = ['list.txt', 'src/a.ts', 'script.sed', 'data.json']

/** So many allowed lines go to the shells at once, and they may take that share of the time. */
const atOnce = 2_000
const shareOfShells = 2
const mostFound = 400_000

/** Of lines with the same key, one is put before the shells and run. */
function openGate(keyOf: (line: string) => string, askShells?: typeof contradictions): Opened {
  const began = performance.now()
  const found = new Map<string, string>()
  let [allowed, asked, askedMs] = [0, 0, 0]
  const waiting: string[] = []
  const look = (line: string): string => {
    const verdict = judge(line)
    if (verdict.kind === 'deny') return `deny ${verdict.rule} ${/^\s*(?:git )?[\w-]*/.exec(line)?.[0]}`
    allowed += 1
    const key = keyOf(line)
    if (!found.has(key) && found.size < mostFound) {
      found.set(key, line)
      waiting.push(line)
    }
    return `allow ${/^\s*(?:git )?[\w-]*/.exec(line)?.[0]} ${line.replace(/[^|&;>]+/g, ' ').slice(0, 8)}`
  }
  const settle = (): readonly Failure[] => {
    const start = performance.now()
    if (askShells === undefined || waiting.length < atOnce || askedMs > (start - began) / shareOfShells) return []
    const lines = waiting.splice(0, atOnce)
    const failures = askShells(lines)
    asked += lines.length
    askedMs += performance.now() - start
    return failures
  }
  const figures = () => ({ allowed, ...(askShells && { 'put before each shell': asked }) })
  return { look, settle, figures, found: () => [...found.values()] }
}

function judge(line: string): BashVerdict {
  const verdict = checkWithParser(line, policy)
  const plain = checkPlainCommand(line, policy)
  if (plain !== null) same(plain.kind, verdict.kind, 'with and without a parser it is decided otherwise')
  if (verdict.kind === 'deny') lookAtDenial(line, verdict)
  else lookAtAllowance(line)
  return verdict
}

const unreadable = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

function lookAtDenial(line: string, { rule, reason }: Extract<BashVerdict, { kind: 'deny' }>): void {
  demand(reason.length < 1_000 && !unreadable.test(reason), `the reason is not one to read: ${reason}`)
  demand(reason.split('\n').length === 2, `the reason has not two lines: ${reason}`)
  // What is denied alone is denied behind another command, too.
  const joint = [undefined, 'pwd && ', undefined, 'pwd ; '][line.length % 4]
  if (joint === undefined || rule === 'empty') return
  demand(checkWithParser(joint + line, policy).kind === 'deny', `it is denied (${rule}), but allowed behind "${joint}"`)
}

function lookAtAllowance(line: string): void {
  const alone = checkWithParser(line, { ...policy, compound: false })
  const behind = checkWithParser(`pwd ; ${line.trimStart()}`, policy)
  demand(alone.kind === 'deny' || behind.kind === 'allow' || behind.rule === 'too-long', 'it is not allowed behind pwd')
  const changed = checkWithParser(line, { ...policy, untrustedGitKeys: ['core.fsmonitor'] })
  demand(changed.kind === 'deny' || !/^\s*git\s/.test(line), 'git is trusted although its configuration changed')
}
