import { readLineHere } from '../../../support/gate/bash/check-with-parser.ts'
import type { Failure } from '../target.ts'
import { isLineIn, runsInShell } from './runs-in-shell.ts'
import { type Shell, shells } from './shells.ts'

/** Which of these lines, all of them allowed, a real shell would run as other commands than the gate judged. */
export function contradictions(lines: readonly string[]): readonly Failure[] {
  return shells.flatMap((shell) => {
    const runs = runsInShell(lines, shell)
    const suspects = lines.filter((line, index) => differs(line, runs[index]) !== null)
    // Alone, since what is wrong with one line may spoil the next ones.
    return suspects.flatMap((line) => {
      const why = contradiction(line, shell)
      return why === null ? [] : [{ input: line, why: `${shell.name} contradicts: ${why}` }]
    })
  })
}

/**
 * Two commands of a pipe with very long words may mix what they tell. What a line means is the same each time, so what
 * contradicts does so each time.
 */
function contradiction(line: string, shell: Shell, tries = 6): string | null {
  const ran = runsInShell([line], shell)[0]
  const why = differs(line, ran)
  if (why === null || (ran?.length === 0 && !isLineIn(shell, line))) return null
  return tries === 1 ? why : contradiction(line, shell, tries - 1)
}

/** Every command that runs is one that was judged, and each that was judged runs: after a success or after a failure. */
function differs(line: string, ran: readonly string[] | undefined): string | null {
  const read = readLineHere(line)
  if (read.kind !== 'line') return 'the gate itself cannot read it'
  const judged = new Set(read.parts.map(({ words }) => JSON.stringify(words.map(({ text }) => text))))
  const seen = new Set(ran)
  const more = [...seen].filter((words) => !judged.has(words))
  const fewer = [...judged].filter((words) => !seen.has(words))
  if (more.length + fewer.length === 0) return null
  return `it runs ${more.join(' and ').slice(0, 300) || 'nothing else'}, and does not run ${fewer.join(' and ').slice(0, 300) || 'anything less'}`
}
