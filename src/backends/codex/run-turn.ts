import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AskContext, Failure, Question } from '../../schemas/backend.ts'
import { strictSchema } from '../curl/strict-schema.ts'
import { runInGroup } from '../run-in-group.ts'
import type { CodexAsk } from './adjust-ask.ts'
import type { Capabilities } from './capabilities.ts'
import { codexArgs } from './codex-args.ts'
import { codexEnvironment, secretsIn } from './codex-environment.ts'
import { codexSettings } from './codex-settings.ts'
import type { CodexLimits, CodexSetup } from './codex-setup.ts'
import { composePrompt } from './compose-prompt.ts'
import { describeEvent } from './describe-event.ts'
import { atStart, foldTurn, type TurnState } from './fold-turn.ts'
import { parseLine } from './parse-line.ts'
import { mcpServersIn, projectFolders, projectSkills, readUserConfig } from './read-surroundings.ts'
import { isHopeless, readTurn } from './read-turn.ts'
import type { Turn } from './turn.ts'

export type TurnPlace = {
  readonly setup: CodexSetup
  readonly question: Question
  readonly context: AskContext
  readonly known: Capabilities
  readonly folder: string
  readonly limits: CodexLimits
  readonly timeoutMs: number
}

/** One process of Codex, from its command line to what came of it. */
export async function runTurn(ask: CodexAsk, place: TurnPlace): Promise<Turn> {
  const { setup, question, context, folder, limits, timeoutMs } = place
  const { root } = question
  if (root !== null && !isFolder(root)) return failedTurn(missingRoot(root))
  // A fresh one each time: a run that fails leaves an old answer as it was.
  const files = newFiles(folder)
  if (ask.schema !== null) writeFileSync(files.schema, JSON.stringify(strictSchema(ask.schema)), { mode: 0o600 })
  let state: TurnState = atStart
  context.tell('starting codex')
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
      const sign = describeEvent(event)
      if (sign !== null) context.tell(sign)
      return isHopeless(state, limits) || isTrespass(state, question) ? 'end' : undefined
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
