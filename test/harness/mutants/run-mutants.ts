import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Mutant, mutants } from './mutants.ts'
import { mutate } from './mutate.ts'

/**
 * `npm run mutants`: puts one fault after the other into a copy of the sources and runs the tests there. A fault that no
 * test sees is a test that is missing. `-- --only <pattern>` of file names and reasons tries some of them.
 */
const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } })
const chosen = mutants.filter(({ file, why }) => new RegExp(values.only).test(`${file} ${why}`))

/** The quick ones first; the others, and whether they pass without a fault, only for what those do not see. */
const stages: readonly { readonly of: RegExp; readonly tests: readonly string[] }[] = [
  {
    of: /gate\/(?:bash|scope)/,
    tests: ['test/unit/gate/bash/tables.test.ts', 'test/unit/gate/bash/policy.test.ts', 'test/unit/gate/scope'],
  },
  { of: /./, tests: ['test/unit/gate', 'test/unit/hooks', 'test/unit/install'] },
  {
    of: /./,
    tests: [
      'test/integration/hooks',
      ...['approval', 'planted-links'].map((of) => `test/integration/state/${of}.test.ts`),
    ],
  },
  { of: /./, tests: ['test/integration/gate', 'test/harness/fuzz'] },
]

const copy = realpathSync(mkdtempSync(join(tmpdir(), 'plan-gate-mutants-')))

function copySources(): void {
  const parts = [
    '.claude-plugin',
    'bootstrap',
    'hooks',
    'skills',
    'src',
    'templates',
    'test',
    'package.json',
    'tsconfig.json',
    'vitest.config.ts',
    'LICENSE',
  ]
  // Links as they are: the tests' `plan-gate` on PATH has to be the one of the copy.
  const filter = (path: string): boolean => !path.endsWith('node_modules')
  for (const part of parts) cpSync(part, join(copy, part), { recursive: true, verbatimSymlinks: true, filter })
  for (const folder of ['node_modules', 'test/support/clients/node_modules'])
    if (existsSync(folder)) symlinkSync(realpathSync(folder), join(copy, folder))
}

function isSeen(mutant: Mutant, tests: readonly string[]): boolean {
  const path = join(copy, mutant.file)
  const source = readFileSync(path, 'utf8')
  const began = performance.now()
  writeFileSync(path, mutate(source, mutant))
  try {
    const failing = runTests(tests)
    const seconds = Math.round((performance.now() - began) / 1_000)
    if (failing !== null) console.log(`${mutant.file}: ${mutant.why}\n   seen by ${failing} (${seconds} s)`)
    return failing !== null
  } finally {
    writeFileSync(path, source)
  }
}

/** What a test measures on a busy machine, or that it runs out of time, says nothing about the fault. */
const measuring = 'twice as long|no faster|no longer|stays quick|fraction of a millisecond|well before'
const untimed = ['--testTimeout=600000', '--hookTimeout=600000', `--testNamePattern=^(?!.*(?:${measuring}))`]

/** The first test that fails; null where all pass. The hooks that tests run are bundles, so they are built anew. */
function runTests(tests: readonly string[]): string | null {
  if (tests.includes('test/integration/hooks')) build()
  const report = join(copy, 'report.json')
  rmSync(report, { force: true })
  const vitest = [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--bail=1',
    '--reporter=json',
    `--outputFile=${report}`,
    ...untimed,
  ]
  if (run([...vitest, ...tests]) === 0) return null
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report
  const failed = testResults.flatMap(({ name, assertionResults, message }) => {
    const first = assertionResults.find(({ status }) => status === 'failed')
    return first === undefined && message === ''
      ? []
      : [`${name.slice(copy.length + 1)}: ${first?.fullName ?? message}`]
  })
  return failed[0]?.slice(0, 160) ?? 'the run itself'
}

type Report = {
  readonly testResults: readonly {
    readonly name: string
    readonly message: string
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[]
  }[]
}

const run = (args: readonly string[]): number =>
  spawnSync(process.execPath, args, { cwd: copy, stdio: 'ignore' }).status ?? 1

const build = (): number => run(['--import', 'tsx', 'src/build/build.ts'])

try {
  copySources()
  build()
  let unseen = chosen
  for (const { of, tests } of stages) {
    if (!unseen.some(({ file }) => of.test(file))) continue
    const intact = runTests(tests)
    if (intact !== null) throw new Error(`without any fault, ${intact} fails: nothing can be said about the others`)
    unseen = unseen.filter((mutant) => !of.test(mutant.file) || !isSeen(mutant, tests))
  }
  for (const { file, why } of unseen) console.log(`SURVIVES  ${file}: ${why}`)
  console.log(`\n${chosen.length - unseen.length} of ${chosen.length} faults are seen.`)
  process.exitCode = unseen.length === 0 ? 0 : 1
} finally {
  rmSync(copy, { recursive: true, force: true })
}
