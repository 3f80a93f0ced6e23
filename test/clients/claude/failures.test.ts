import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hooksDir } from '../../../src/state/own-paths.ts'
import { type GatedWorktree, gatedWorktree } from '../../support/gated-worktree.ts'
import { runClaude } from '../../support/run-claude.ts'

const bundle = `${hooksDir}/pre-tool-use.mjs`
type Cause = (worktree: GatedWorktree) => void
type Hook = { command: string; args: string[]; timeout: number }

/** Changes the gate's own entry. */
const entry =
  (change: (hook: Hook) => void): Cause =>
  (worktree) => {
    const settings = JSON.parse(worktree.read('.claude/settings.json'))
    for (const { hooks } of settings.hooks.PreToolUse) for (const hook of hooks) change(hook)
    worktree.write('.claude/settings.json', JSON.stringify(settings))
  }
/** Another program in place of the loader. */
const program = (code: string): Cause => entry(({ args }) => args.splice(args.indexOf('-e') + 1, 1, code))
/** The hook as it is, after something that goes wrong in its process. */
const after = (condition: string): Cause =>
  entry(({ args }) => {
    const at = args.indexOf('-e') + 1
    args[at] = `{const fs=require('fs');${condition}}\n${args[at]}`
  })
const full = (fd: string): string =>
  `const write=fs.writeSync;fs.writeSync=(fd,...rest)=>{if(${fd})throw Object.assign(new Error('no space left on device'),{code:'ENOSPC'});return write(fd,...rest)}`
/** Changes one rule in the bundle, so that it would allow. */
const opened = (text: string): string => text.replaceAll(/\w+\.kind==="approved"/g, '!0')

/** Each way in which the gate's own program can fail, as the real client sees it: the tool must not run in any. */
const failures: [name: string, told: RegExp, cause: Cause][] = [
  ['the bundle is missing', /cannot be read \(ENOENT\)/, ({ at }) => rmSync(at(bundle))],
  ['the bundle is empty', /is not the file that was installed/, ({ at }) => writeFileSync(at(bundle), '')],
  [
    'the bundle was changed so that it allows',
    /is not the file that was installed\. Run `plan-gate doctor`/,
    (worktree) => edit(worktree, bundle, opened),
  ],
  [
    'a bundle that it loads was changed',
    /parse-command\.mjs is not the file/,
    (worktree) => edit(worktree, `${hooksDir}/parse-command.mjs`, (text) => `${text}//`),
  ],
  ['a pipe lies in place of the bundle', /timed out/, swapForPipe],
  ['all of .claude/hooks is gone', /cannot be read/, ({ at }) => rmSync(at('.claude/hooks'), { recursive: true })],
  ['node is missing', /failed; blocking/, entry(({ args }) => args.splice(args.indexOf('-e') - 1, 1, '/nowhere/node'))],
  ['env is missing', /failed; blocking/, entry((hook) => Object.assign(hook, { command: '/nowhere/env' }))],
  ['it crashes', /failed; blocking/, program("throw new Error('crash')")],
  [
    'it crashes after it has said something',
    /failed; blocking/,
    program("console.log('{\"hookSpec'); process.exit(1)"),
  ],
  ['it ends with 1', /failed; blocking/, program('process.exit(1)')],
  ['it is killed', /failed; blocking/, program("process.kill(process.pid, 'SIGKILL'); setInterval(() => {}, 1000)")],
  ['it aborts, as node does when it runs out of memory', /failed; blocking/, program('process.abort()')],
  ['it hangs', /timed out; blocking/, program('setInterval(() => {}, 1000)')],
  ['something prints before its answer', /plan-gate: writing/, after("fs.writeSync(1,'npm warn something\\n')")],
  ['the disk is full while it answers', /plan-gate: writing/, after(full('fd===1'))],
  ['the disk is full while it takes notes', /plan-gate: writing/, after(full('fd>2'))],
  [
    'nothing can be opened',
    /plan-gate:/,
    after(
      "fs.readFileSync('/dev/null');const read=fs.readFileSync;fs.openSync=()=>{throw Object.assign(new Error('too many open files'),{code:'EMFILE'})}",
    ),
  ],
  ['the configuration is garbage', /plan-gate/, (worktree) => worktree.configure('\u0000{{{')],
  [
    'the compiled configuration is garbage',
    /plan-gate/,
    ({ write }) => write(`${hooksDir}/config.json`, '{"version":1'),
  ],
  [
    'the review folder is a file',
    /plan-gate/,
    ({ at }) => {
      rmSync(at('.claude/review'), { recursive: true })
      writeFileSync(at('.claude/review'), '')
    },
  ],
]

describe.each(['newest', 'oldest'] as const)('%s Claude Code, when the gate’s own program fails', (client) => {
  let worktree: GatedWorktree
  beforeEach(async () => {
    worktree = await gatedWorktree()
  })
  afterEach(() => worktree.remove())

  const tryToWrite = (env: { [name: string]: string } = {}) =>
    runClaude({
      client,
      cwd: worktree.root,
      env,
      turns: [
        {
          tools: [
            { name: 'Write', input: { file_path: worktree.at('canary.txt'), content: 'ran' } },
            { name: 'Bash', input: { command: 'cat README.md | xargs touch canary.txt', description: 'x' } },
          ],
        },
      ],
    })

  it('the control group: without the gate the tool runs', async () => {
    rmSync(worktree.at('.claude'), { recursive: true })
    await tryToWrite()
    expect(existsSync(worktree.at('canary.txt'))).toBe(true)
  })

  it.each(failures)(
    '%s: the tool does not run',
    async (_, told, cause) => {
      cause(worktree)
      const { toolResults } = await tryToWrite()
      expect([existsSync(worktree.at('canary.txt')), toolResults.map(({ isError }) => isError)]).toEqual([
        false,
        [true, true],
      ])
      expect(toolResults.map(({ text }) => text).join('\n')).toMatch(told)
    },
    60_000,
  )

  it.each<[string, (mark: string) => { [name: string]: string }]>([
    ['NODE_OPTIONS', (mark) => ({ NODE_OPTIONS: `--require ${mark}.cjs` })],
    ['NODE_V8_COVERAGE', (mark) => ({ NODE_V8_COVERAGE: mark })],
    ['OPENSSL_CONF', (mark) => ({ OPENSSL_CONF: `${mark}.cnf` })],
    ['CLAUDE_CODE_SHELL_PREFIX', (mark) => ({ CLAUDE_CODE_SHELL_PREFIX: `${mark}.sh` })],
  ])('%s of the environment does not reach the hook', async (_, env) => {
    const mark = worktree.at('.git/mark')
    writeFileSync(
      `${mark}.cjs`,
      `if(process.execArgv.includes('-e'))require('fs').writeFileSync('${mark}','');process.exit(0)`,
    )
    writeFileSync(`${mark}.sh`, `#!/bin/sh\ncase $1 in *pre-tool-use*) touch '${mark}' ;; esac\n`, { mode: 0o755 })
    // Node would end with an error that names it.
    writeFileSync(
      `${mark}.cnf`,
      'nodejs_conf = x\n[x]\nproviders = y\n[y]\nz = w\n[w]\nmodule = /nowhere.so\nactivate = 1\n',
    )
    const settings = JSON.parse(worktree.read('.claude/settings.json'))
    writeFileSync(worktree.at('.claude/settings.local.json'), JSON.stringify({ env: env(mark) }))
    expect(settings.env).not.toMatchObject(env(mark))
    const { toolResults } = await tryToWrite()
    expect([existsSync(mark), existsSync(worktree.at('canary.txt'))]).toEqual([false, false])
    expect(toolResults[0]).toMatchObject({ isError: true, text: expect.stringContaining('plan-gate: writing') })
  })
})

function edit(worktree: GatedWorktree, path: string, change: (text: string) => string): void {
  const before = worktree.read(path)
  const text = change(before)
  if (text === before) throw new Error(`nothing changed in ${path}`)
  writeFileSync(worktree.at(path), text)
}

function swapForPipe(worktree: GatedWorktree): void {
  renameSync(worktree.at(bundle), worktree.at(`${bundle}.bak`))
  execFileSync('mkfifo', [worktree.at(bundle)])
  if (readFileSync(worktree.at(`${bundle}.bak`)).length === 0) throw new Error('the bundle was empty')
}
