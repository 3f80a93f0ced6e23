import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { featuresIn, missingCapabilities, parseCapabilities } from '../../../../src/reviewers/codex/codex.ts'
import { identifyProgram, readCached, writeCached } from '../../../../src/reviewers/program-cache.ts'
import { temporaryFolder } from '../../../support/temporary-repo.ts'
import { type CodexFixture, withCodex } from '../../../support/with-codex.ts'

const yes = { turns: [{ kind: 'model', text: 'yes' }] } as const

/** The real Codex behind a script that notes how it is called. */
const counted = (codex: CodexFixture, version = ''): string =>
  codex.script('bin/codex', `# ${version}\necho "$1 $2 $3" >> ${codex.folder}/calls\nexec ${codex.program} "$@"`)
const calls = ({ folder }: CodexFixture): string[] =>
  readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n').sort()

const questions = ['exec --help ', 'exec --skip-git-repo-check -c', 'exec resume --help', 'features list ']
const review = 'exec --json -s'

describe('what a Codex can do', () => {
  it('is asked for once, and again only of another one', () =>
    withCodex(yes, async (codex) => {
      const program = counted(codex)
      await codex.ask({}, { program })
      expect(calls(codex)).toEqual([...questions, review].sort())
      await codex.ask({}, { program })
      await codex.ask({}, { program })
      expect(calls(codex)).toHaveLength(7)
      counted(codex, 'another version')
      await codex.ask({}, { program })
      expect(calls(codex).filter((call) => call !== review)).toEqual([...questions, ...questions].sort())
    }))

  it('is remembered whole by several that begin at once', () =>
    withCodex(yes, async (codex) => {
      const program = counted(codex)
      const answers = await Promise.all([1, 2, 3].map(() => codex.ask({}, { program })))
      expect(answers.map(({ kind }) => kind)).toEqual(['answered', 'answered', 'answered'])
      const [file = '', ...others] = readdirSync(join(codex.folder, 'cache'))
      const path = join(codex.folder, 'cache', file)
      expect(others).toEqual([])
      expect([statSync(join(codex.folder, 'cache')).mode & 0o777, statSync(path).mode & 0o777]).toEqual([0o700, 0o600])
      expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ canIgnoreRules: true })
    }))

  it('is asked for each time where nothing can be kept', () =>
    withCodex(yes, async (codex) => {
      const program = counted(codex)
      for (const cacheDir of [null, join(codex.write('a-file', ''), 'below')])
        expect(await codex.ask({}, { program, cacheDir })).toMatchObject({ text: 'yes' })
      expect(calls(codex)).toHaveLength(10)
    }))

  it.each([
    { name: 'too old', script: 'echo "  -s, --sandbox <MODE>"', why: /too old .* exec --json/ },
    { name: 'broken', script: 'exit 1', why: /does not run/ },
    {
      name: 'without node',
      script: `echo "/usr/bin/env: 'node': No such file or directory" >&2; exit 127`,
      why: /node/,
    },
  ])('$name → not installed, and nothing is kept', ({ script, why }) =>
    withCodex(yes, async (codex) => {
      const program = codex.script('bin/codex', script)
      const answer = await codex.ask({}, { program })
      expect(answer).toMatchObject({ failure: 'not-installed', why: expect.stringMatching(why) })
      expect(existsSync(join(codex.folder, 'cache'))).toBe(false)
    }),
  )

  it('is found in the real help texts', () =>
    withCodex(yes, async (codex) => {
      await codex.ask()
      const [file = ''] = readdirSync(join(codex.folder, 'cache'))
      const known = JSON.parse(readFileSync(join(codex.folder, 'cache', file), 'utf8'))
      expect(known).toMatchObject({
        canIgnoreRules: true,
        canReplaceInstructions: true,
        features: expect.arrayContaining(['shell_tool', 'view_image']),
      })
      expect(known.features).not.toContain('undo')
    }))
})

describe('the lines that are read', () => {
  it('features by name, without those that are gone', () => {
    const list = `WARNING: x
apps                      stable             true
code_mode                 under development  false
undo                      removed            false
`
    expect(featuresIn(list)).toEqual(['apps', 'code_mode'])
  })

  it('flags by line', () => {
    const flags = [
      '--sandbox',
      '--cd',
      '--skip-git-repo-check',
      '--output-last-message',
      '--output-schema',
      '--ephemeral',
    ]
    const exec = [...flags, '--json', '--model'].map((flag, i) => `  ${i % 2 ? '-x, ' : '    '}${flag} <X>\n`).join('')
    expect(missingCapabilities({ exec, resume: '      --json\n  text about --model' })).toEqual(['exec resume --model'])
  })
})

describe('a cache that cannot be trusted', () => {
  const known = { features: ['shell_tool'], canIgnoreRules: true, canReplaceInstructions: true }
  const identity = { name: 'codex', identity: 'a'.repeat(64) }
  const read = (folder: string, key = identity) => readCached(folder, key, parseCapabilities)
  const filled = (): { folder: string; file: string } => {
    const folder = join(temporaryFolder(), 'cache')
    writeCached(folder, identity, known)
    return { folder, file: join(folder, `codex-${'a'.repeat(32)}.json`) }
  }

  it('is distinguished from one that can', () => {
    const { folder } = filled()
    expect([read(folder), read(folder, { ...identity, identity: 'b'.repeat(64) })]).toEqual([known, null])
  })

  it.each([
    { name: 'a folder that others may write to', spoil: ({ folder }) => chmodSync(folder, 0o777) },
    { name: 'a file that others may write to', spoil: ({ file }) => chmodSync(file, 0o666) },
    { name: 'half a file', spoil: ({ file }) => writeFileSync(file, '{"features":["she') },
    { name: 'another form', spoil: ({ file }) => writeFileSync(file, '{"features":"shell_tool"}') },
    { name: 'no object', spoil: ({ file }) => writeFileSync(file, 'null') },
    { name: 'a huge file', spoil: ({ file }) => writeFileSync(file, `${' '.repeat(300_000)}${JSON.stringify(known)}`) },
  ] as { name: string; spoil: (cache: { folder: string; file: string }) => void }[])('$name', ({ spoil }) => {
    const cache = filled()
    spoil(cache)
    expect(read(cache.folder)).toBe(null)
  })

  it('a link to a folder, or to a file', () => {
    const { folder, file } = filled()
    const [linked, other] = [`${folder}-linked`, join(`${folder}-other`)]
    symlinkSync(folder, linked)
    mkdirSync(other, { mode: 0o700 })
    symlinkSync(file, join(other, `codex-${'a'.repeat(32)}.json`))
    expect([read(linked), read(other)]).toEqual([null, null])
    writeCached(linked, { ...identity, identity: 'c'.repeat(64) }, known)
    expect(readdirSync(folder)).toHaveLength(1)
  })
})

describe('which Codex it is', () => {
  it('is identified by the program and by the package beside it', () => {
    const folder = temporaryFolder()
    const program = join(folder, 'package', 'bin', 'codex.js')
    mkdirSync(join(folder, 'package', 'bin'), { recursive: true })
    writeFileSync(program, '1')
    const seen = [identifyProgram(program)]
    writeFileSync(join(folder, 'package', 'package.json'), '{"version":"1"}')
    seen.push(identifyProgram(program))
    writeFileSync(join(folder, 'package', 'package.json'), '{"version":"2"}')
    seen.push(identifyProgram(program))
    writeFileSync(program, '22')
    seen.push(identifyProgram(program))
    symlinkSync(program, join(folder, 'codex'))
    expect(new Set(seen).size).toBe(4)
    expect([identifyProgram(join(folder, 'codex')), identifyProgram(join(folder, 'gone'))]).toEqual([seen[3], null])
  })
})
