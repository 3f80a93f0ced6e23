import { describe, expect, it } from 'vitest'
import { contradictions } from './oracle/contradictions.ts'
import { isLineIn } from './oracle/runs-in-shell.ts'
import { shells } from './oracle/shells.ts'

/** The oracle of the fuzzing: it has to speak up, and not to cry wolf. */
describe('the shells', () => {
  it.each([
    'echo one two',
    'echo "a|b" "\na|b" | grep x',
    "cat 'odd\nname' | head -3 && ls",
    `ls ${'a'.repeat(6_000)} | cat | head`,
    'cd src && ls ~/x # a note\npwd',
    'for f in a "b c"; do cat "$f" "${f}x"; done',
    'f=src; cat $f/*.ts "$f"',
    // No line at all for zsh, which then runs nothing.
    'ls 2>&1>/dev/null 2>&1',
  ])('agree about %j', (line) => {
    expect(contradictions([line])).toEqual([])
  })

  it.each(['echo $(id)', 'ls {a,b}', 'ls ~root', 'cat $X', 'ls > x', 'f=a | cat "$f"'])(
    'do not let %j pass',
    (line) => {
      expect(contradictions([line]).length).toBeGreaterThan(0)
    },
  )

  it.each(shells)('$name tells a line from none', (shell) => {
    expect(['ls | cat', 'ls | |', 'echo "a'].map((line) => isLineIn(shell, line))).toEqual([true, false, false])
  })
})
