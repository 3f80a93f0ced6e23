import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Answer, AskContext, AskReviewer, Effort, Failure, Question } from '../../schemas/review.ts'
import type { Schema } from '../../schemas/schema.ts'
import { strictSchema } from '../openai.ts'
import { quoteForeign, runInGroup } from '../process.ts'
import { type Capabilities, readCapabilities } from './capabilities.ts'
import {
  type CodexLimits,
  type CodexSetup,
  codexEnvironment,
  limitsOf,
  mcpServersIn,
  projectFolders,
  projectSkills,
  readUserConfig,
  secretsIn,
} from './environment.ts'
import {
  answerFrom,
  foldTurn,
  formatProgress,
  initialTurn,
  isUnrecoverable,
  parseLine,
  readTurn,
  type Turn,
  type TurnState,
} from './events.ts'

/** The Codex CLI: it reads and never writes, and on a thread it remembers what it has said before. */
export const codexReviewer =
  (setup: CodexSetup): AskReviewer =>
  async (question, context) => {
    const tooLong = refuseLength(question)
    if (tooLong !== null) return failed(tooLong)
    try {
      return await withScratchFolder(setup.scratch, (folder) => ask(setup, question, context, folder))
    } catch (error) {
      return failed({
        failure: 'crashed',
        why: `Codex could not be asked: ${quoteForeign(String(error), [])}`,
        nextStep: 'Look whether files can be written in the folder for temporary files, or use another reviewer.',
        retryAfterMs: null,
      })
    }
  }

async function ask(setup: CodexSetup, question: Question, context: AskContext, folder: string): Promise<Answer> {
  const deadline = performance.now() + question.timeoutMs
  const timeLeft = (): number => deadline - performance.now()
  const known = await readCapabilities(setup, folder, { timeoutMs: timeLeft(), signal: context.signal })
  if (known.kind === 'failed') return failed(known.failure)
  const unguarded = refuseOpenShell(question, known)
  if (unguarded !== null) return failed(unguarded)
  return settle({ setup, question, context, known, folder, limits: limitsOf(setup) }, timeLeft)
}

/** Asks, and asks the same again where something was not accepted that can be done without. */
async function settle(place: Omit<TurnPlace, 'timeoutMs'>, timeLeft: () => number): Promise<Answer> {
  let current: CodexAsk = firstAsk(place.question)
  for (;;) {
    const turn = await runTurn(current, { ...place, timeoutMs: timeLeft() })
    const next = adjustAsk(current, turn)
    if (next === null || timeLeft() <= 0) return answerFrom(current, turn, place.question)
    current = next
  }
}

/** The read-only sandbox lets a command read every file of this user; only a Codex without commands reads none. */
function refuseOpenShell({ root }: Question, { features }: Capabilities): Failure | null {
  if (root !== null || features.includes('shell_tool')) return null
  return {
    failure: 'not-installed',
    why: 'This Codex cannot be run without its shell tool, and could read any file.',
    nextStep: 'Update it: npm i -g @openai/codex@latest; or allow it to read with review.tool_access: true.',
    retryAfterMs: null,
  }
}

const failed = (failure: Failure): Answer => ({ kind: 'failed', ...failure, thread: null, notices: [] })

/** How the question is put: it starts as it was asked and loses what is not accepted. */
export type CodexAsk = {
  readonly resume: string | null
  readonly keepsThread: boolean
  readonly effort: Effort | null
  readonly schema: Schema | null
  readonly replaced: { readonly was: string; readonly why: string } | null
  readonly notices: readonly string[]
}

export function firstAsk({ thread, effort, schema }: Question): CodexAsk {
  const ask = { resume: null, keepsThread: thread.kind !== 'none', effort, schema, replaced: null, notices: [] }
  if (thread.kind !== 'resume') return ask
  if (isThreadId(thread.id)) return { ...ask, resume: thread.id }
  return replaceThread(ask, thread.id, 'what was noted of it is not the id of a thread')
}

/** The next way to put the question; null: this turn is the last word. */
export function adjustAsk(ask: CodexAsk, turn: Turn): CodexAsk | null {
  if (turn.kind !== 'failed') return null
  switch (turn.remedy) {
    case null:
      return null
    case 'new-thread':
      return ask.resume === null ? null : replaceThread(ask, ask.resume, turn.failure.why)
    case 'no-effort':
      return ask.effort === null
        ? null
        : {
            ...ask,
            effort: null,
            notices: [...ask.notices, `Reasoning effort ${ask.effort} was left out: the model does not take it.`],
          }
    case 'no-schema':
      return ask.schema === null
        ? null
        : {
            ...ask,
            schema: null,
            notices: [...ask.notices, 'The form of the answer was asked for in words only: the schema was refused.'],
          }
  }
}

/** `codex exec resume` takes any other word for a new thread, without saying so. */
const isThreadId = (id: string): boolean => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(id)

const replaceThread = (ask: CodexAsk, was: string, why: string): CodexAsk => ({
  ...ask,
  resume: null,
  replaced: { was, why },
})

/** Codex has one text for a turn: who it is comes first, what it looks at last. */
const composePrompt = ({ system, user }: Pick<Question, 'system' | 'user'>): string => `${system}\n\n${user}`

const longest = 1_048_576

/** A longer one would be refused after Codex has started; it counts characters, not what JavaScript calls length. */
function refuseLength(question: Pick<Question, 'system' | 'user'>): Failure | null {
  const prompt = composePrompt(question)
  const length = prompt.length <= longest ? prompt.length : [...prompt].length
  if (length <= longest) return null
  return {
    failure: 'rejected',
    why: `What is to be reviewed has ${length} characters, and Codex takes ${longest} in one turn.`,
    nextStep: 'Review it in parts.',
    retryAfterMs: null,
  }
}

type TurnPlace = {
  readonly setup: CodexSetup
  readonly question: Question
  readonly context: AskContext
  readonly known: Capabilities
  readonly folder: string
  readonly limits: CodexLimits
  readonly timeoutMs: number
}

/** One process of Codex, from its command line to what came of it. */
async function runTurn(ask: CodexAsk, place: TurnPlace): Promise<Turn> {
  const { setup, question, context, folder, limits, timeoutMs } = place
  const { root } = question
  if (root !== null && !isFolder(root)) return failedTurn(missingRoot(root))
  // A fresh one each time: a run that fails leaves an old answer as it was.
  const files = newFiles(folder)
  if (ask.schema !== null) writeFileSync(files.schema, JSON.stringify(strictSchema(ask.schema)), { mode: 0o600 })
  let state: TurnState = initialTurn
  context.onProgress('starting codex')
  const cwd = root ?? files.emptyRoom
  const outcome = await runInGroup(setup.program, argsFor(ask, place, files, cwd), {
    cwd,
    env: codexEnvironment(setup.env),
    input: composePrompt(question),
    timeoutMs,
    silenceMs: limits.silenceMs,
    signal: context.signal,
    maxOutputBytes: limits.maxOutputBytes,
    onLine: (line, stream) => {
      const event = parseLine(line, stream)
      state = foldTurn(state, event, performance.now())
      const sign = formatProgress(event)
      if (sign !== null) context.onProgress(sign)
      return isUnrecoverable(state, limits) || isTrespass(state, question) ? 'end' : undefined
    },
  })
  return readTurn(outcome, state, {
    answerFile: files.answer,
    maxAnswerBytes: limits.maxOutputBytes,
    secrets: secretsIn(setup.env),
    isTrespass: isTrespass(state, question),
  })
}

type Files = { readonly emptyRoom: string; readonly answer: string; readonly schema: string }

let turns = 0

function newFiles(folder: string): Files {
  const turn = join(folder, `turn-${++turns}`)
  const emptyRoom = join(turn, 'room')
  mkdirSync(emptyRoom, { recursive: true, mode: 0o700 })
  return { emptyRoom, answer: join(turn, 'answer.txt'), schema: join(turn, 'schema.json') }
}

function argsFor(ask: CodexAsk, { setup, question, known }: TurnPlace, files: Files, cwd: string): string[] {
  const projects = question.root === null ? [] : projectFolders(question.root)
  return codexArgs({
    cwd,
    resume: ask.resume,
    keepsThread: ask.keepsThread,
    model: question.model,
    schemaFile: ask.schema === null ? null : files.schema,
    answerFile: files.answer,
    canIgnoreRules: known.canIgnoreRules,
    settings: codexSettings({
      effort: ask.effort,
      features: known.features,
      mayReadFiles: question.root !== null,
      projects,
      skills: projectSkills(projects),
      mcpServers: mcpServersIn(readUserConfig(setup.env)),
    }),
  })
}

/** Without a root nothing may be read, so nothing that can read may be at work, whatever the settings said. */
const isTrespass = ({ tools }: TurnState, { root }: Question): boolean => root === null && tools.length > 0

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

const missingRoot = (root: string): Failure => ({
  failure: 'rejected',
  why: `The folder under review is not there: ${root}`,
  nextStep: 'Run plan-gate in the folder that is to be reviewed.',
  retryAfterMs: null,
})

const failedTurn = (failure: Failure): Turn => ({ kind: 'failed', failure, remedy: null, thread: null, total: null })

type CodexRequest = {
  readonly cwd: string
  /** The id of the thread to go on with. */
  readonly resume: string | null
  readonly keepsThread: boolean
  readonly model: string | null
  readonly schemaFile: string | null
  readonly answerFile: string
  /** `key=value`, as `-c` takes them. */
  readonly settings: readonly string[]
  /** The user's rules can take a command out of the sandbox. */
  readonly canIgnoreRules: boolean
}

/**
 * Everything stands before `resume`, which does not take all of it and inherits none of it: without `-s`, a thread that
 * began read-only may write. The prompt comes on stdin.
 */
export const codexArgs = (request: CodexRequest): string[] => [
  'exec',
  '--json',
  ...['-s', 'read-only'],
  '--skip-git-repo-check',
  ...['-C', request.cwd],
  ...['-o', request.answerFile],
  ...(request.canIgnoreRules ? ['--ignore-rules'] : []),
  ...(request.keepsThread ? [] : ['--ephemeral']),
  ...(request.model === null ? [] : [`--model=${request.model}`]),
  ...(request.schemaFile === null ? [] : ['--output-schema', request.schemaFile]),
  ...request.settings.flatMap((setting) => ['-c', setting]),
  ...(request.resume === null ? [] : ['resume', request.resume]),
  '-',
]

type SettingsFor = {
  readonly effort: Effort | null
  /** What this Codex knows; a feature that it does not know would be reported as a mistake. */
  readonly features: readonly string[]
  readonly mayReadFiles: boolean
  /** The folders that Codex takes for the project under review. */
  readonly projects: readonly string[]
  /** Files of skills that the project brings along. */
  readonly skills: readonly string[]
  readonly mcpServers: readonly string[]
}

/** What a reviewer is given by `-c`: a command line wins over every configuration file. */
export const codexSettings = (given: SettingsFor): string[] => [
  ...always,
  ...[...unneeded, ...(given.mayReadFiles ? [] : reading)]
    .filter((feature) => given.features.includes(feature))
    .map((feature) => `features.${feature}=false`),
  // They run outside the sandbox.
  ...given.mcpServers.map((name) => `mcp_servers.${name}.enabled=false`),
  ...(given.projects.length === 0 ? [] : [`projects={${given.projects.map(asUntrusted).join(',')}}`]),
  ...(given.skills.length === 0 ? [] : [`skills.config=[${given.skills.map(asDisabled).join(',')}]`]),
  ...(given.effort === null ? [] : [`model_reasoning_effort=${quoted(given.effort)}`]),
]

const always = [
  // What is under review must not instruct who reviews it: neither AGENTS.md nor a list of skills.
  'project_doc_max_bytes=0',
  'skills.include_instructions=false',
  'skills.bundled.enabled=false',
  // Keys stay with Codex; a login shell could bring them back.
  'shell_environment_policy.inherit="core"',
  'shell_environment_policy.ignore_default_excludes=false',
  'allow_login_shell=false',
  'web_search="disabled"',
  'notify=[]',
  'analytics.enabled=false',
  'otel.metrics_exporter="none"',
  'check_for_update_on_startup=false',
]

/** Each costs time at every start, looks outside, or runs something of the user's. */
const unneeded = [
  'apps',
  'goals',
  'hooks',
  'image_generation',
  'memories',
  'multi_agent',
  'multi_agent_v2',
  'plugins',
  'remote_plugin',
  'shell_snapshot',
  'tool_suggest',
]

/** Every tool that can look at a file. */
const reading = ['shell_tool', 'view_image', 'code_mode', 'js_repl']

/** A trusted project brings its own configuration, with servers, hooks and rules. */
const asUntrusted = (folder: string): string => `${quoted(folder)}={trust_level="untrusted"}`

/** A text that says `$name` would otherwise call the skill of that name. */
const asDisabled = (path: string): string => `{path=${quoted(path)},enabled=false}`

/** A JSON string is a TOML string too, but for DEL, which TOML wants escaped. */
const quoted = (text: string): string => JSON.stringify(text).replaceAll('\x7f', '\\u007f')

/** A folder that only this user can look into, for as long as an act lasts. */
async function withScratchFolder<T>(parent: string | null, act: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(realpathSync(parent ?? tmpdir()), 'plan-gate-codex-'))
  const remove = (): void => {
    try {
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    } catch {
      // What stays there is no reason to lose an answer.
    }
  }
  process.once('exit', remove)
  try {
    return await act(folder)
  } finally {
    process.off('exit', remove)
    remove()
  }
}
