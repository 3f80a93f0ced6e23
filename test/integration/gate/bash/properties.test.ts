import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkWithParser, policy, readLineHere } from '../../../support/gate/bash/check-with-parser.ts'
import { commandLine, wordyLine } from '../../../support/gate/bash/command-lines.ts'
import { isSlow } from '../../../support/is-slow.ts'

const takesLonger = (command: string, ms: number): boolean => isSlow(() => checkWithParser(command, policy), ms)

describe('any string', () => {
  it('gets an answer, in time', () => {
    fc.assert(
      fc.property(commandLine, (command) => {
        expect(['allow', 'deny']).toContain(checkWithParser(command, policy).kind)
        expect(takesLonger(command, 50)).toBe(false)
      }),
      { numRuns: 4_000 },
    )
  })

  const heads = ['', 'echo ', 'git log ', "sed -n '", "jq '", 'find . ', 'echo "', 'git log --format=', 'cat /']
  const repeated = [
    ...[
      'a',
      ' ',
      "'",
      '"',
      '\\',
      '$',
      '`',
      '{',
      '}',
      '(',
      '$(',
      '${',
      '$((',
      '<<a\n',
      '<(',
      '[',
      '*',
      '#',
      '|',
      ';',
      '&&',
    ],
    ...[
      '@{',
      "''",
      "a'b'",
      'a|',
      'a;',
      ' -a',
      " 'x'",
      ' 2>&1',
      '\\\\',
      '"$',
      '{a,',
      '@(',
      '../',
      '/.gnupg/',
      ' \t',
      '中',
      '1,',
    ],
    ...['s/a', '%(', '=~', '((', '[[', 'if ', 'case ', '=', '/a\\', '!'],
  ]
  it.each(heads.flatMap((head) => repeated.map((piece) => ({ head, piece }))))(
    'of the greatest length is quick: %j',
    ({ head, piece }) => {
      expect(takesLonger((head + piece.repeat(8_000)).slice(0, 8_000), 50)).toBe(false)
    },
  )

  it('of ten megabytes is denied by its length alone', () => {
    const huge = `ls ${'a'.repeat(10_000_000)}`
    expect(takesLonger(huge, 20)).toBe(false)
    expect(checkWithParser(huge, policy)).toMatchObject({ kind: 'deny', rule: 'too-long' })
  })
})

const hasZsh = spawnSync('zsh', ['--version']).status === 0
const shells = [
  { shell: 'bash', args: ['--norc'], present: true },
  { shell: hasZsh ? 'zsh' : 'zsh (skipped: it is not installed)', args: ['-f'], present: hasZsh },
]

describe.each(shells)('the words that the gate judges are those of $shell', ({ shell, args, present }) => {
  it.runIf(present)('in every line that it can read', () => {
    const lines = new Set(fc.sample(wordyLine, { numRuns: 12_000, seed: 20261118 }).map((line) => line.trimStart()))
    const read = [...lines].flatMap((source) => {
      const line = readLineHere(source)
      // What is put before a comment would stand in a line of its own.
      if (line.kind !== 'line' || line.isCompound || source.startsWith('#')) return []
      const words = line.parts[0]?.words.map(({ text }) => text) ?? []
      // What only the shell knows is left to the fuzzing.
      return words.length === 0 || words.some((word) => /[\u0001-\u0003]/.test(word)) ? [] : [{ source, words }]
    })
    expect(read.length).toBeGreaterThan(1_000)
    for (let at = 0; at < read.length; at += 400) {
      const some = read.slice(at, at + 400)
      const printed = printedBy(
        shell,
        args,
        some.map(({ source }) => source),
      )
      expect(some.map(({ source }, index) => ({ source, words: printed[index] }))).toEqual(some)
    }
  })
})

/** Each line as the arguments of a function that prints them. */
function printedBy(shell: string, args: readonly string[], sources: readonly string[]): string[][] {
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  const script = [
    "p() { printf '%s\\0' \"$@\"; printf '\\1\\0'; }",
    ...sources.map((source) => `eval ${quote(`p ${source}`)}`),
  ].join('\n')
  const { stdout } = spawnSync(shell, [...args, '-c', script], {
    env: { PATH: process.env.PATH, HOME: '/home/me', LC_ALL: 'C.UTF-8' },
  })
  return stdout
    .toString()
    .split('\u0001\0')
    .map((one) => one.split('\0').slice(0, -1))
}
