import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { sha256 } from '../../../src/system/sha256.ts'
import { cli, project } from '../../support/project.ts'
import { runProgram } from '../../support/run-program.ts'
import { cleanEnvironment } from '../../support/temporary-repo.ts'
import { byTmux, hasTmux, openTmux } from '../../support/tmux.ts'

let folder: string
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'demo-')))
})
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))

/** The package as installed, without the code caches, which each node generates. */
function copyOfThePackage(name: string): string {
  const copy = join(folder, name)
  for (const part of ['dist', 'skills', 'templates', 'package.json'])
    cpSync(join(project, part), join(copy, part), { recursive: true, filter: (path) => !path.endsWith('.cache') })
  return copy
}

const runDemo = (at: string, ...flags: string[]) =>
  runProgram(process.execPath, [join(at, 'dist', 'cli.mjs'), 'demo', ...flags], {
    cwd: folder,
    env: { ...cleanEnvironment(), TMPDIR: folder },
    timeoutMs: 60_000,
  })

type Line = {
  event: string
  says?: string
  answer?: string
  told?: string[]
  as_promised?: boolean
  failures?: number
  report?: string
}
const linesOf = (stdout: string): Line[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)

/** With its digest in those that load it; the reviews are compressed. */
function changeBundle(hooks: string, name: string, rule: RegExp, instead: string): void {
  const file = readdirSync(hooks).find((each) => each.startsWith(`${name}.mjs`) && !each.endsWith('.cache')) ?? name
  const before = readFileSync(join(hooks, file))
  const isPacked = file.endsWith('.br')
  const text = (isPacked ? brotliDecompressSync(before) : before).toString('utf8')
  expect(text).toMatch(rule)
  const changed = Buffer.from(text.replace(rule, instead))
  const after = isPacked ? brotliCompressSync(changed) : changed
  writeFileSync(join(hooks, file), after)
  for (const other of readdirSync(hooks).filter((each) => each.endsWith('.mjs'))) {
    const loader = readFileSync(join(hooks, other), 'utf8')
    writeFileSync(join(hooks, other), loader.replaceAll(sha256(before), sha256(after)))
  }
}

describe('the demo', () => {
  it('shows the answers of the installed hooks, and leaves only a report', async () => {
    const { exitCode, stdout, stderr } = await runDemo(project, '--json')
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    const lines = linesOf(stdout)
    const acts = lines.filter(({ event }) => event === 'act')
    expect(acts.map(({ answer, as_promised }) => [answer, as_promised])).toEqual(
      ['denied', 'denied', 'allowed', 'denied', 'allowed', 'allowed', 'allowed', 'denied', 'allowed', 'denied'].map(
        (answer) => [answer, true],
      ),
    )
    expect(acts[1]?.told?.join('\n')).toMatch(/`python3` is not on the list of commands that only read/)
    expect(acts[4]?.told?.join('\n')).toMatch(/There is no `## Context` section/)
    expect(acts[5]?.told?.join('\n')).toMatch(/revision 1 of docs\/plan\.md is approved/)
    const { report = '', ...result } = lines.at(-1) ?? expect.unreachable()
    expect(result).toEqual({ event: 'result', failures: 0 })
    expect(readdirSync(dirname(report))).toEqual(['report.html'])
    expect(readFileSync(report, 'utf8')).toMatch(/<title>[\s\S]*shop-greeting/)
  })

  it('with --keep keeps the repository, and prints where it is', async () => {
    const { exitCode, stderr } = await runDemo(project, '--keep')
    expect(exitCode).toBe(0)
    const kept = /The repository is kept in (\S+)\./.exec(stderr)?.[1] ?? expect.unreachable()
    expect(existsSync(join(kept, '.claude/review/events.jsonl'))).toBe(true)
  })

  it.each<[broken: string, file: string, rule: RegExp, instead: string]>([
    ['an open plan refuses nothing', 'pre-tool-use', /=>\w+\.kind==="approved"&&\w+\.length===0/, '=>!0'],
    ['any command only reads', 'pre-tool-use', /\.refusal===null\)return/, '.refusal!==1)return'],
    ['what has to be in a plan is not looked for', 'reviews', /required_sections/g, 'required_nothing'],
  ])('fails when a rule in the bundle is broken: %s', async (broken, file, rule, instead) => {
    const copy = copyOfThePackage(broken.replaceAll(' ', '-'))
    changeBundle(join(copy, 'dist/hooks'), file, rule, instead)
    const { exitCode, stdout } = await runDemo(copy, '--json')
    expect({ exitCode, last: linesOf(stdout).at(-1) }).not.toMatchObject({ last: { failures: 0 } })
    expect(exitCode).not.toBe(0)
  })

  it('runs from such a copy when nothing is broken', async () => {
    expect((await runDemo(copyOfThePackage('whole'), '--json')).exitCode).toBe(0)
  })

  it.skipIf(!hasTmux)(
    `keeps its indentation in a narrow terminal, and ends with three commands ${byTmux}`,
    async () => {
      const terminal = openTmux()
      onTestFinished(terminal.end)
      terminal.start(`cd '${folder}' && TMPDIR='${folder}' '${process.execPath}' '${cli}' demo; sleep 60`, {
        columns: 46,
        rows: 250,
      })
      const screen = await terminal.seen(/The third takes/, 30_000)
      expect(screen).toMatch(
        /^ {4}plan-gate: writing src\/greet\.js is not\n {4}allowed before there is an approved plan,\n {4}and/m,
      )
      expect(screen).toMatch(/^ {4}- Context: .*\n {6}\S/m)
      const { stderr } = await runDemo(project)
      expect(stderr).toMatch(/^ {2}codex login\n {2}.* bootstrap --name trial\n {2}.* finish trial$/m)
      expect(stderr).toMatch(
        /^ {4}plan-gate: writing src\/greet\.js is not allowed before there is an approved plan, and/m,
      )
    },
  )
})
