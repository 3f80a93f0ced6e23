import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { project } from '../../support/project.ts'
import { runProgram } from '../../support/run-program.ts'
import type { Place } from './places.ts'
import { blocksIn, readDocument, type Stated } from './read-document.ts'
import { type Row, rows } from './rows.ts'

const documents = [
  'README.md',
  ...readdirSync(join(project, 'docs')).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
]
const textOf = (name: string): string => readFileSync(join(project, name), 'utf8')
const stated = documents.flatMap((name) =>
  readDocument(textOf(name)).map((each) => ({ ...each, where: `${name}:${each.line}` })),
)
const rowFor = (command: string): Row | undefined => rows.find((row) => row.command === command)

describe('the commands of the documents', () => {
  it('are found, and each has a row in test/readme/rows.ts', () => {
    expect(stated.length).toBeGreaterThan(5)
    expect(
      stated.filter(({ command }) => rowFor(command) === undefined).map(({ where, command }) => `${where}  ${command}`),
    ).toEqual([])
    expect(rows.length).toBe(new Set(rows.map(({ command }) => command)).size)
  })

  const runnable = stated.flatMap((each) => {
    const row = rowFor(each.command)
    return row === undefined ? [] : [{ ...each, row }]
  })

  it.each(runnable)('$where: $command', async (each) => run(each.row, each), 60_000)
})

describe('commands that are not in a document now', () => {
  const others = rows.filter(({ command }) => !stated.some((each) => each.command === command))

  it.each(others)('work all the same: $command', async (row) => run(row, null), 60_000)
})

/** By bash, as a reader would. */
async function run(row: Row, shown: Stated | null): Promise<void> {
  const place = await row.place()
  const options = { cwd: place.cwd, env: place.env, timeoutMs: 50_000 }
  const { exitCode, stdout, stderr } = await runProgram('bash', ['-c', row.instead?.command ?? row.command], options)
  expect({ exitCode, said: stdout + stderr }).toEqual({ exitCode: row.exitCode ?? 0, said: expect.any(String) })
  row.afterwards?.(place, { stdout, stderr })
  if (shown?.output) compare(row, shown.output, stdout + stderr, place)
}

function compare({ shown, command }: Row, output: string, said: string, place: Place): void {
  switch (shown) {
    case 'exactly':
      return expect(said).toBe(output)
    case 'alike': {
      const lines = alike(said, place).split('\n')
      return expect(
        alike(output, place)
          .trimEnd()
          .split('\n')
          .filter((line) => line !== '…' && !lines.includes(line)),
      ).toEqual([])
    }
    case undefined:
      throw new Error(`The document shows the output of \`${command}\`, so its row must say how that is compared.`)
  }
}

/** Folders, versions, times and counts are what they are on each machine. */
const alike = (text: string, { folder }: Place): string =>
  text
    .replaceAll(`${folder}/`, '../')
    .replace(/\/\S*\/node\b/g, '/usr/bin/node')
    .replace(/(?:\.\.|\/home\/\S*?)\/shop[\w-]*\//g, 'SHOP/')
    .replace(/\b[0-9a-f]{12}\b/g, 'HASH')
    .replace(/\d{4}-?\d\d-?\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/\d+/g, 'N')

describe('the workflow for GitHub Actions', () => {
  it('has the steps that a document shows', () => {
    const steps = documents.flatMap((name) =>
      blocksIn(textOf(name), ['yaml', 'yml'])
        .map(({ lines }) => lines.join('\n'))
        .filter((text) => text.includes('uses: ')),
    )
    expect(steps).toHaveLength(1)
    expect(textOf('templates/github-workflow.yml')).toContain(steps[0])
  })
})

describe('the harness itself', () => {
  it.each<[string, string, Stated[]]>([
    [
      'lines of sh',
      '```sh\na --b   # why\n\n# only a comment\nc "#1" d#e\n```\n',
      [
        { command: 'a --b', output: null, line: 2 },
        { command: 'c "#1" d#e', output: null, line: 5 },
      ],
    ],
    ['a line that goes on', '```sh\na \\\n  --b\n```\n', [{ command: 'a \\\n  --b', output: null, line: 3 }]],
    [
      'a console and what it shows',
      'x\n```console\n$ a\none\ntwo\n$ b # c\n```\n',
      [
        { command: 'a', output: 'one\ntwo\n', line: 3 },
        { command: 'b', output: '', line: 6 },
      ],
    ],
    ['no other block', '```yaml\na: b\n```\n```\n$ a\n```\n', []],
  ])('reads %s', (_, markdown, expected) => {
    expect(readDocument(markdown)).toEqual(expected)
  })

  it('fails where the output that is shown is another', async () => {
    const row = rows.find(({ shown }) => shown === 'exactly') ?? expect.unreachable()
    await expect(run(row, { command: row.command, output: 'deny\n', line: 1 })).rejects.toThrow()
  })
})
