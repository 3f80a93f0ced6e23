/** As much of GitHub's runner as our action uses. What it does not know, it refuses: nothing may pass unnoticed. */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { parse } from 'yaml'
import { type Heard, listenTo } from './workflow-commands.ts'

type Text = { readonly [name: string]: string }

export type Job = {
  /** Outside of every checkout: the workspace, `_temp` and the files of the commands. */
  readonly folder: string
  readonly workspace: string
  /** What programs see, beside the variables of the runner. */
  readonly env: Text
  readonly event: { readonly name: string; readonly baseRef?: string; readonly payload?: object }
}

export type StepOutcome = Heard & { readonly exitCode: number; readonly outputs: Text; readonly summary: string }

type Step = {
  readonly id?: string
  readonly if?: string
  readonly shell?: string
  readonly run?: string
  readonly env?: Text
  readonly 'working-directory'?: string
}

type Action = {
  readonly inputs?: { readonly [name: string]: { readonly default?: string; readonly required?: boolean } }
  readonly outputs?: { readonly [name: string]: { readonly value: string } }
  readonly runs: { readonly using: string; readonly steps: readonly Step[] }
}

/** `path`: a checkout of the action's repository. */
export async function runAction(path: string, given: Text, job: Job): Promise<StepOutcome> {
  const action = parse(readFileSync(join(path, 'action.yml'), 'utf8')) as Action
  if (action.runs.using !== 'composite') throw new Error(`an action that uses ${action.runs.using} is not supported`)
  const known = Object.entries(action.inputs ?? {})
  const unknown = Object.keys(given).filter((name) => !known.some(([other]) => other === name))
  if (unknown.length > 0) throw new Error(`unknown inputs: ${unknown.join(', ')}`)
  const inputs = Object.fromEntries(known.map(([name, { default: value = '' }]) => [name, given[name] ?? value]))
  const steps: { [id: string]: { outputs: Text } } = {}
  const state: JobState = { env: job.env, path: [] }
  const heard: Heard = { log: '', annotations: [], outputs: {} }
  let [exitCode, summary] = [0, '']
  const context = { inputs, steps, github: { event: job.event.payload ?? {} }, runner: { temp: tempOf(job) } }
  for (const step of action.runs.steps) {
    if (!isDue(step.if, exitCode)) continue
    const ran = await runStep(step, path, job, state, context)
    heard.log += ran.log
    heard.annotations.push(...ran.annotations)
    summary += ran.summary
    if (step.id !== undefined) steps[step.id] = { outputs: ran.outputs }
    exitCode ||= ran.exitCode
  }
  const outputs = Object.entries(action.outputs ?? {}).map(([name, { value }]) => [name, evaluate(value, context)])
  return { ...heard, exitCode, summary, outputs: Object.fromEntries(outputs) as Text }
}

/** What steps change for those behind them. */
type JobState = { env: Text; path: readonly string[] }

export const tempOf = ({ folder }: Job): string => join(folder, '_temp')

function isDue(condition: string | undefined, exitCode: number): boolean {
  switch (condition) {
    case undefined:
    case 'success()':
      return exitCode === 0
    case 'always()':
      return true
    case 'failure()':
      return exitCode !== 0
    default:
      throw new Error(`the condition ${condition} is not supported`)
  }
}

async function runStep(step: Step, path: string, job: Job, state: JobState, context: object): Promise<StepOutcome> {
  const { id: _, if: __, shell, run = '', env = {}, 'working-directory': directory = '.', ...others } = step
  const unknown = Object.keys(others)
  if (unknown.length > 0 || shell !== 'bash') throw new Error(`not supported: ${unknown.join(', ')}, shell ${shell}`)
  // GitHub would put the value into the script as it is.
  if (run.includes('${{')) throw new Error('an expression inside of a script')
  const temp = tempOf(job)
  const files = join(temp, '_runner_file_commands')
  mkdirSync(files, { recursive: true })
  const [output, summary, newEnv, newPath] = ['output', 'step_summary', 'set_env', 'add_path'].map((name) => {
    const file = join(files, `${name}_${randomUUID()}`)
    writeFileSync(file, '')
    return file
  }) as [string, string, string, string]
  const script = join(temp, `${randomUUID()}.sh`)
  writeFileSync(script, run)
  const variables = {
    ...state.env,
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_ACTION_PATH: path,
    GITHUB_BASE_REF: job.event.baseRef ?? '',
    GITHUB_ENV: newEnv,
    GITHUB_EVENT_NAME: job.event.name,
    GITHUB_OUTPUT: output,
    GITHUB_PATH: newPath,
    GITHUB_STEP_SUMMARY: summary,
    GITHUB_WORKSPACE: job.workspace,
    RUNNER_TEMP: temp,
    ...Object.fromEntries(Object.entries(env).map(([name, value]) => [name, evaluate(value, context)])),
    PATH: [...state.path, state.env.PATH ?? ''].join(delimiter),
  }
  const cwd = join(job.workspace, evaluate(directory, context))
  const { exitCode, ...heard } = await execute(['--noprofile', '--norc', '-eo', 'pipefail', script], cwd, variables)
  state.env = { ...state.env, ...readPairs(newEnv) }
  state.path = [...readFileSync(newPath, 'utf8').split('\n').filter(Boolean).reverse(), ...state.path]
  return {
    ...heard,
    exitCode,
    outputs: { ...heard.outputs, ...readPairs(output) },
    summary: readFileSync(summary, 'utf8'),
  }
}

const timeoutMs = 120_000

async function execute(args: readonly string[], cwd: string, env: Text): Promise<Heard & { exitCode: number }> {
  const child = spawn('bash', args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const late = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
  const listening = listenTo([child.stdout, child.stderr])
  const exitCode = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? -1))
  })
  clearTimeout(late)
  return { exitCode, ...(await listening) }
}

/** `name=value`, and `name<<END` up to a line that is END. */
function readPairs(file: string): Text {
  const pairs: { [name: string]: string } = {}
  const lines = readFileSync(file, 'utf8').split('\n')
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    const [, long, end] = /^([^=<]+)<<(.+)$/.exec(line) ?? []
    const [, short, value = ''] = /^([^=]+)=(.*)$/.exec(line) ?? []
    if (long !== undefined && end !== undefined) {
      const stop = lines.indexOf(end, at + 1)
      if (stop === -1) throw new Error(`no ${end} ends ${long}`)
      pairs[long] = lines.slice(at + 1, stop).join('\n')
      at = stop
    } else if (short !== undefined) pairs[short] = value
    else if (line !== '') throw new Error(`not a pair: ${line}`)
  }
  return pairs
}

/** A text without expressions, or a single `${{ a.b.c }}`; what is not there is empty, as it is for GitHub. */
function evaluate(text: string, context: object): string {
  if (!text.includes('${{')) return text
  const [, path] = /^\$\{\{ ((?:inputs|steps|github|runner)(?:\.[\w-]+)+) \}\}$/.exec(text) ?? []
  if (path === undefined) throw new Error(`the expression ${text} is not supported`)
  const [root = '', ...names] = path.split('.')
  const known = (context as { [name: string]: unknown })[root]
  if (root === 'inputs' && !Object.hasOwn(known as object, names[0] ?? '')) throw new Error(`no such input: ${path}`)
  let value: unknown = known
  for (const name of names)
    value = typeof value === 'object' && value !== null ? (value as { [name: string]: unknown })[name] : undefined
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}
