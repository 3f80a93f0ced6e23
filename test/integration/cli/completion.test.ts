import { spawnSync } from 'node:child_process'
import { accessSync, constants, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CompletionOutput } from '../../../src/schemas/output.ts'
import { runCli } from '../../support/run-cli.ts'
import { cleanEnvironment, git, makeRepo, temporaryFolder } from '../../support/temporary-repo.ts'

const env = () => ({ ...cleanEnvironment(), TERM: 'dumb' })
const isHere = (shell: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, shell), constants.X_OK)
      return true
    } catch {
      return false
    }
  })

let folder: string
let cwd: string
const scriptFor = (shell: string): string => join(folder, `completion.${shell}`)
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'completion-'))
  for (const shell of ['bash', 'zsh', 'fish'])
    writeFileSync(scriptFor(shell), (await runCli(['completion', shell], { cwd: folder })).stdout)
  // With files, folders and branches to complete.
  cwd = makeRepo(join(folder, 'shop'), { 'docs/strategy.md': '', 'docs/my file.md': '', 'README.md': '' })
  git(cwd, 'branch', 'feature-one')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What is typed, and the completions of its last word; the same for every shell. */
const rows: readonly [typed: string, meant: readonly string[]][] = [
  ['plan-gate st', ['status']],
  ['plan-gate co', ['completion', 'config', 'continue']],
  ['plan-gate help ver', ['verify']],
  ['plan-gate status --j', ['--json']],
  ['plan-gate review --t', ['--timeout', '--tool-access', '--type']],
  ['plan-gate review --type s', ['sdd', 'sprint']],
  ['plan-gate install --reviewer ch', ['checklist']],
  ['plan-gate finish --discard un', ['uncommitted', 'unmerged']],
  ['plan-gate drift a', ['accept']],
  ['plan-gate completion z', ['zsh']],
  ['plan-gate bootstrap --base feature', ['feature-one']],
  ['plan-gate verify --base mai', ['main']],
  ['plan-gate verify --plan READ', ['README.md']],
  ['plan-gate bootstrap READ', ['README.md']],
  ['plan-gate approve --reason READ', []],
  ['plan-gate log -n READ', []],
]

describe('bash', () => {
  const complete = (words: readonly string[]): string[] => {
    const line = `source "$SCRIPT"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _plan_gate; printf '%s\\n' "\${COMPREPLY[@]}"`
    const run = spawnSync('bash', ['--norc', '-c', line, 'bash', ...words], {
      cwd,
      env: { ...env(), SCRIPT: scriptFor('bash') },
      encoding: 'utf8',
      timeout: 20_000,
    })
    expect([run.status, run.stderr]).toEqual([0, ''])
    return run.stdout
      .split('\n')
      .filter((each) => each !== '')
      .sort()
  }

  it('completes commands, options, choices, files and commits', async () => {
    const answers = rows.map(([typed]) => [typed, complete(typed.split(' '))])
    expect(answers).toEqual(rows)
  })

  it.each<[string, readonly string[], readonly string[]]>([
    ['a value behind a sign', ['plan-gate', 'review', '--type', '=', 'co'], ['code']],
    [
      'a value that has only the sign',
      ['plan-gate', 'install', '--reviewer', '='],
      ['checklist', 'claude', 'codex', 'curl', 'hounfour'],
    ],
    ['a file with a blank in its name', ['plan-gate', 'bootstrap', 'docs/my'], ['docs/my file.md']],
    ['a folder where one is expected', ['plan-gate', 'finish', ''], ['.git', 'docs']],
    ['a value that may be left out, or the next option', ['plan-gate', 'review', '--diff', '--fa'], ['--fast']],
    ['such a value', ['plan-gate', 'review', '--diff', 'fea'], ['feature-one']],
    ['nothing of what goes to Claude Code', ['plan-gate', 'bootstrap', '--', '--mo'], []],
    ['nothing for a command that does not exist', ['plan-gate', 'stauts', '--'], []],
  ])('%s', async (_, words, meant) => {
    expect(complete(words)).toEqual(meant)
  })
})

describe.runIf(isHere('zsh'))('zsh', () => {
  it('completes the same, line by line, with its own completion system', async () => {
    const script = scriptFor('zsh')
    const own = temporaryFolder()
    const said = join(own, 'said')
    writeFileSync(
      join(own, '.zshrc'),
      `autoload -Uz compinit && compinit -u -D\nsource ${script}\nPS1=READY\nsetopt no_beep no_list_ambiguous\n` +
        // After each Tab the current line, and its completions.
        `zstyle ':completion:*' insert-tab false\n` +
        `told() { zle complete-word; print -r -- "$LBUFFER" >> ${said}; LBUFFER=''; RBUFFER='' }\nzle -N told\nbindkey '^X' told\n`,
    )
    const single = rows.filter(([, meant]) => meant.length === 1)
    const typing = single.map(([typed]) => `zpty -w -n z $'${typed}\\x18'; wait_for`).join('\n')
    const line = `zmodload zsh/zpty zsh/zselect
integer told=0
wait_for() {
  (( told += 1 ))
  for n in {1..400}; do [[ -e ${said} ]] && (( $(wc -l < ${said}) >= told )) && return; zpty -r -t z rest > /dev/null; zselect -t 2; done
}
zpty -b z zsh -i
for n in {1..400}; do zpty -r -t z rest && [[ $rest == *READY* ]] && break; zselect -t 2; done
${typing}
zpty -d z`
    const run = spawnSync('zsh', ['-f', '-c', line], {
      cwd,
      env: { ...env(), ZDOTDIR: own, TERM: 'vt100' },
      encoding: 'utf8',
      timeout: 60_000,
    })
    expect(run.stderr).toBe('')
    const lines = readFileSync(said, 'utf8')
      .trimEnd()
      .split('\n')
      .map((each) => each.trimEnd())
    expect(lines).toEqual(single.map(([typed, [meant = '']]) => `${typed.slice(0, typed.lastIndexOf(' '))} ${meant}`))
  }, 70_000)

  it('reads its script as a file of $fpath as well', async () => {
    const script = scriptFor('zsh')
    expect(readFileSync(script, 'utf8').split('\n')[0]).toBe('#compdef plan-gate')
    expect(spawnSync('zsh', ['-n', script], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' })
  })
})

describe.runIf(isHere('fish'))('fish', () => {
  it('completes the same', async () => {
    const script = scriptFor('fish')
    const home = temporaryFolder()
    const complete = (typed: string): string[] => {
      const run = spawnSync('fish', ['--no-config', '-c', 'source $argv[1]; complete -C $argv[2]', script, typed], {
        cwd,
        env: { ...env(), HOME: home },
        encoding: 'utf8',
        timeout: 20_000,
      })
      expect([run.status, run.stderr]).toEqual([0, ''])
      return run.stdout
        .split('\n')
        .flatMap((each) => (each === '' ? [] : [each.split('\t')[0] ?? '']))
        .sort()
    }
    expect(rows.map(([typed]) => [typed, complete(typed)])).toEqual(rows)
  })
})

describe.runIf(!isHere('fish'))('fish, which is not installed here: only the form of its script is looked at', () => {
  it('has nothing but complete lines, whose quotes are closed', async () => {
    const lines = readFileSync(scriptFor('fish'), 'utf8').trimEnd().split('\n').slice(1)
    const word = String.raw`(?:'(?:[^'\\]|\\.)*'|[\w-]+)`
    const pattern = new RegExp(`^complete -c plan-gate(?: -[a-zA-Z]+(?: ${word})?)+$`)
    expect(lines.filter((line) => !pattern.test(line))).toEqual([])
    expect(lines.length).toBeGreaterThan(80)
  })
})

describe('what the scripts are made from', () => {
  let commands: CompletionOutput['commands']
  beforeAll(async () => {
    commands = (
      JSON.parse((await runCli(['completion', '--json'], { cwd: import.meta.dirname })).stdout) as CompletionOutput
    ).commands
  })

  it('knows the kind of every value: a file, a folder, a commit, a choice or any text', () => {
    const values = commands.flatMap(({ name, options, operands }) => [
      ...options.flatMap(({ names, takes, value }) =>
        takes === 'nothing' ? [] : [`${name} ${names.at(-1)}: ${value.kind}`],
      ),
      ...operands.map((operand) => `${name} <${operand.name}>: ${operand.value.kind}`),
    ])
    // A new one shows up here, to be looked at: its placeholder decides, in describe-commands.ts.
    expect(values.filter((line) => line.endsWith('text'))).toEqual([
      'bootstrap --name: text',
      'bootstrap <claude-flags>: text',
      'open <claude-flags>: text',
      'trust <item>: text',
      'untrust <item>: text',
      'log --last: text',
      'diff <from>: text',
      'diff <to>: text',
      'approve --reason: text',
      'waive --reason: text',
      'waive <finding>: text',
      'explain <command>: text',
      'review --iteration: text',
      'review --timeout: text',
      'calibrate --routes: text',
      'calibrate --effort: text',
      'calibrate --readers: text',
      'calibrate --classes: text',
      'calibrate --plans: text',
      'calibrate --commits: text',
      'calibrate --repeat: text',
      'calibrate --judge: text',
      'calibrate --max-calls: text',
      'calibrate --seed: text',
      'schema <name>: text',
    ])
    expect(
      values.filter(
        (line) =>
          /file|content|plan|ledger|output|config/.test(line.split(':')[0] ?? '') &&
          !/file|text/.test(line.split(':')[1] ?? ''),
      ),
    ).toEqual([])
  })
})
