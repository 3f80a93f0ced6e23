import { describe, expect, it } from 'vitest'
import { installLocked } from '../../support/install-locked.ts'
import { checkForReal } from './check-for-real.ts'
import { languages } from './grammar/languages.ts'
import { contradictions } from './oracle/contradictions.ts'
import { isLineIn } from './oracle/runs-in-shell.ts'
import { shells } from './oracle/shells.ts'
import { readElsewhere } from './oracle/yaml-readers.ts'
import { makeRandom } from './random.ts'

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

  it('tell long words one after the other', () => {
    expect(contradictions(Array(100).fill(`ls ${'a'.repeat(5_200)} | head -n 5 | tail -n 2`))).toEqual([])
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

/** With a gate that would allow everything. */
describe('the real programs', () => {
  const plants = {
    "sed -n '1w zz' list.txt": 'zz',
    "sed '1e' list.txt": 'processes',
    'dd if=list.txt of=list.txt conv=notrunc': 'list.txt',
    "find list.txt -exec touch zz ';'": 'touch',
    "jq '.x, env' data.json": 'environment',
    'xxd list.txt -p': '-p',
    "sed '1w zz' list.txt -e p": 'POSIXLY_CORRECT',
    'cat </dev/tcp/127.0.0.1/9': 'connect',
  }

  it('show which of several lines does more than read', { timeout: 120_000 }, () => {
    const { failures, ran } = checkForReal(['ls -la src', 'git log --oneline', ...Object.keys(plants)], 60)
    const whys = (line: string): string =>
      failures
        .filter(({ input }) => input === line)
        .map(({ why }) => why)
        .join()
    expect(ran).toBe(2 + Object.keys(plants).length)
    for (const [line, why] of Object.entries(plants)) expect(whys(line)).toContain(why)
    expect(new Set(failures.map(({ input }) => input)).size).toBe(Object.keys(plants).length)
  })

  it('find what the manual of sed offers to write', { timeout: 120_000 }, () => {
    const random = makeRandom(7)
    const lines = Array.from({ length: 60 }, () => `sed ${languages.sed?.(random)}`)
    const ending = lines.filter((line) => /' (?:list\.txt|src\/a\.ts)[^']*$/.test(line))
    expect(checkForReal(ending.slice(0, 24), 60).failures.length).toBeGreaterThan(0)
  })

  it('read YAML in their own way', { timeout: 120_000 }, async () => {
    await installLocked('yaml-readers')
    const hooks = { when: 'hooks', hooks: 1 }
    expect(readElsewhere(['when: &a hooks\n*a : 1', '- [', '<<: {a: 1}'])).toEqual([
      [
        { by: 'Bun', value: hooks },
        { by: 'js-yaml', value: hooks },
      ],
      [],
      [
        { by: 'Bun', value: { a: 1 } },
        { by: 'js-yaml', value: { '<<': { a: 1 } } },
      ],
    ])
  })
})
