import { patternMark, secretMark, unknownMark } from '../../../../src/gate/bash/refusal.ts'
import { readLineHere } from '../../../support/gate/bash/check-with-parser.ts'
import type { Failure } from '../target.ts'
import { isLineIn, runsInShell } from './runs-in-shell.ts'
import { type Shell, shells } from './shells.ts'

/** Which of these lines, all of them allowed, a real shell would run as other commands than the gate judged. */
export function contradictions(lines: readonly string[]): readonly Failure[] {
  const judged = lines.map(judgedIn)
  return shells.flatMap((shell) => {
    const runs = runsInShell(lines, shell)
    const suspects = lines.filter((line, index) => differs(line, judged[index], runs[index]) !== null)
    // Alone, since what is wrong with one line may spoil the next ones.
    return suspects.flatMap((line) => {
      const why = contradiction(line, shell)
      return why === null ? [] : [{ input: line, why: `${shell.name} contradicts: ${why}` }]
    })
  })
}

function contradiction(line: string, shell: Shell): string | null {
  const ran = runsInShell([line], shell)[0]
  const why = differs(line, judgedIn(line), ran)
  return why === null || (ran?.length === 0 && !isLineIn(shell, line)) ? null : why
}

type Commands = readonly (readonly string[])[]

function judgedIn(line: string): Commands | undefined {
  const read = readLineHere(line)
  return read.kind === 'line' ? read.parts.map(({ words }) => words.map(({ text }) => text)) : undefined
}

/** Every command that runs is one that was judged, and each that was judged runs: after a success or after a failure. */
function differs(line: string, judged: Commands | undefined, ran: readonly string[] | undefined): string | null {
  if (judged === undefined) return 'the gate itself cannot read it'
  const seen = [...new Set(ran)].map((words) => JSON.parse(words) as string[])
  const more = seen.filter((words) => !judged.some((one) => fits(one, words)))
  const fewer = judged.filter((one) => !seen.some((words) => fits(one, words)))
  // A pattern may fit no file, so that zsh runs nothing and a loop has no turn, as over a variable that is not set; a constant
  // never fails; where nothing is before its = or ~, zsh looks for a program or a person.
  const mayRunLess = /[*?[]|=\S* *\|\||\$\w+[=~]|\bin [^;\n]*\$/.test(line)
  if (more.length === 0 && (fewer.length === 0 || mayRunLess)) return null
  return `it runs ${show(more) || 'nothing else'}, and does not run ${show(fewer) || 'anything less'}`
}

const show = (commands: Commands): string =>
  commands
    .map((words) => JSON.stringify(words))
    .join(' and ')
    .slice(0, 300)

/** A pattern is itself, or any number of words with its beginning; what only the shell knows, only echo may print. */
function fits(judged: readonly string[], words: readonly string[]): boolean {
  if (judged[0] === 'echo' && judged.some((word) => word.includes(unknownMark) || word.includes(secretMark)))
    return words[0] === 'echo'
  const [first, ...rest] = judged
  if (first === undefined) return words.length === 0
  if (!first.startsWith(patternMark)) return first === words[0] && fits(rest, words.slice(1))
  const beginning = /^[^*?[]*/.exec(first.slice(1))?.[0] ?? ''
  return fits(rest, words) || (words[0]?.startsWith(beginning) === true && fits(judged, words.slice(1)))
}
