import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AskReviewer, Failure, Question } from '../../schemas/review.ts'
import { embedded } from '../../schemas/schema.ts'
import { failureOf, secretsIn } from '../failure.ts'
import { programReviewer, type RunProcess } from '../program.ts'
import { type Turn, type TurnRequest, turnText } from '../turn-request.ts'
import { codexArgs, codexSettings } from './args.ts'
import { type Capabilities, readCapabilities } from './capabilities.ts'
import {
  type CodexSetup,
  codexEnvironment,
  codexLimits,
  mcpServersIn,
  projectFolders,
  projectSkills,
  readUserConfig,
} from './environment.ts'
import { codexProgram } from './failures.ts'
import { foldLine, initialTurn, isUnrecoverable, readTurn, type TurnState } from './turn.ts'

/** The Codex CLI in its read-only sandbox; on a thread it remembers the turns before. */
export const codexReviewer = (setup: CodexSetup): AskReviewer =>
  programReviewer(codexProgram, setup.scratch, async (question, folder, within) => {
    const tooLong = checkLength(question)
    if (tooLong !== null) return { failure: tooLong }
    const known = await readCapabilities(setup, folder, within)
    if ('failure' in known) return known
    if (question.root === null && !known.features.includes('shell_tool')) return { failure: openShell }
    return (request, run) => runTurn(request, { setup, question, known, folder, run })
  })

const maxPromptLength = 1_048_576

/** Codex would refuse it only after its start; it counts characters, not UTF-16 units. */
function checkLength(question: Question): Failure | null {
  const prompt = withSystem(question)
  const length = prompt.length <= maxPromptLength ? prompt.length : [...prompt].length
  return length <= maxPromptLength
    ? null
    : failureOf(
        'rejected',
        `What is to be reviewed has ${length} characters, and Codex takes ${maxPromptLength} in one turn.`,
        'Review it in parts.',
      )
}

const withSystem = ({ system, user }: Question): string => `${system}\n\n${user}`

/** The read-only sandbox lets a command read every file of this user; only a Codex without commands reads none. */
const openShell = failureOf(
  'not-installed',
  'This Codex cannot be run without its shell tool, and could read any file.',
  `${codexProgram.update}; or allow it to read with review.tool_access: true.`,
)

type RunContext = {
  readonly setup: CodexSetup
  readonly question: Question
  readonly known: Capabilities
  readonly folder: string
  readonly run: RunProcess
}

/** One process of Codex. */
async function runTurn(request: TurnRequest, runContext: RunContext): Promise<Turn> {
  const { setup, question, known, folder, run } = runContext
  const { root } = question
  const { silenceMs, maxOutputBytes, networkMs } = codexLimits(setup)
  // Codex's own instructions are for an agent that writes code, and are three times as long as a review's.
  const replaces = setup.instructions !== 'keep' && known.canReplaceInstructions
  const files = writeFiles(folder, request, replaces ? question.system : null)
  const usedForbiddenTool = (state: TurnState): boolean => root === null && state.tools.length > 0
  const cwd = root ?? files.emptyDir
  // The instructions stand before it, unless they replace Codex's own or the thread has them.
  const input = turnText(question, request, replaces ? question.user : withSystem(question))
  const { outcome, state } = await run(
    setup.program,
    argsFor(request, runContext, files, cwd),
    { cwd, env: codexEnvironment(setup.env), input, silenceMs, maxOutputBytes },
    {
      begin: initialTurn,
      read: (state, line, stream) => foldLine(state, line, stream, performance.now()),
      isOver: (state) => isUnrecoverable(state, { networkMs }) || usedForbiddenTool(state),
    },
  )
  return readTurn(outcome, state, {
    answerFile: files.answer,
    maxAnswerBytes: maxOutputBytes,
    secrets: secretsIn(setup.env),
    usedForbiddenTool: usedForbiddenTool(state),
  })
}

type Files = {
  readonly emptyDir: string
  readonly answer: string
  readonly schema: string | null
  readonly instructions: string | null
}

let turns = 0

/** New files for each turn: a run that fails leaves an old answer as it was. */
function writeFiles(folder: string, { schema }: TurnRequest, instructions: string | null): Files {
  const turn = join(folder, `turn-${++turns}`)
  const emptyDir = join(turn, 'empty')
  mkdirSync(emptyDir, { recursive: true, mode: 0o700 })
  const write = (name: string, text: string | null): string | null => {
    if (text === null) return null
    writeFileSync(join(turn, name), text, { mode: 0o600 })
    return join(turn, name)
  }
  return {
    emptyDir,
    answer: join(turn, 'answer.txt'),
    schema: write('schema.json', schema === null ? null : JSON.stringify(embedded(schema))),
    instructions: write('instructions.md', instructions),
  }
}

function argsFor(request: TurnRequest, { setup, question, known }: RunContext, files: Files, cwd: string): string[] {
  const projects = question.root === null ? [] : projectFolders(question.root)
  return codexArgs({
    cwd,
    resume: request.resume,
    keepsThread: request.keepsThread,
    model: question.model,
    schemaFile: files.schema,
    answerFile: files.answer,
    canIgnoreRules: known.canIgnoreRules,
    settings: codexSettings({
      effort: request.effort,
      instructionsFile: files.instructions,
      features: known.features,
      mayReadFiles: question.root !== null,
      projects,
      skills: projectSkills(projects),
      mcpServers: mcpServersIn(readUserConfig(setup.env)),
    }),
  })
}
