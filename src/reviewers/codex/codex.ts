import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AskReviewer, Failure, Question } from '../../schemas/review.ts'
import { accepts, bool, embedded, type FromSchema, objectOf, texts } from '../../schemas/schema.ts'
import { failureOf, secretsIn, tooOld } from '../failure.ts'
import type { GroupOutcome } from '../process.ts'
import { programReviewer, type RunProcess, type Turn, type TurnRequest, turnText } from '../program.ts'
import { failureOfHelp, missingFlags, type RunHelp, readCapabilitiesOf, type Within } from '../program-cache.ts'
import {
  type CodexSetup,
  codexArgs,
  codexEnvironment,
  codexLimits,
  codexProgram,
  codexSettings,
  mcpServersIn,
  projectFolders,
  projectSkills,
  readUserConfig,
} from './program.ts'
import { classifyFailure, foldLine, initialTurn, isUnrecoverable, readTurn, type TurnState } from './turn.ts'

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
  `Update it (${codexProgram.update}), or allow it to read with review.tool_access: true.`,
)

type RunContext = {
  readonly setup: CodexSetup
  readonly question: Question
  readonly known: Capabilities
  readonly folder: string
  readonly run: RunProcess
}

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

/** Beyond the required flags. `features`: as `codex features list` names them. */
const capabilitiesSchema = objectOf({ features: texts, canIgnoreRules: bool, canReplaceInstructions: bool })
type Capabilities = FromSchema<typeof capabilitiesSchema>

const readCapabilities = (setup: CodexSetup, folder: string, within: Within) => {
  // An empty CODEX_HOME, so that an error in the user's configuration does not make a feature look unknown.
  const env = { ...codexEnvironment(setup.env), CODEX_HOME: folder }
  return readCapabilitiesOf(codexProgram, setup, env, within, parseCapabilities, (run) => readHelp(run, folder))
}

async function readHelp(run: RunHelp, folder: string) {
  const [exec, resume, features, instructions] = await Promise.all([
    run('exec', '--help'),
    run('exec', 'resume', '--help'),
    run('features', 'list'),
    // Not in any help; one that knows the setting reports that the file is missing, before it looks for a prompt.
    run('exec', '--skip-git-repo-check', '-c', `model_instructions_file=${JSON.stringify(join(folder, 'none'))}`, '-'),
  ])
  for (const outcome of [exec, resume]) {
    if (outcome.kind === 'ended' && outcome.exitCode === 0) continue
    const hasSaidWhy = outcome.kind === 'ended' || outcome.kind === 'killed-by'
    const known = hasSaidWhy ? classifyFailure(outcome.stderr, []) : null
    return { failure: known?.failure ?? failureOfHelp(codexProgram, outcome) }
  }
  const help = { exec: textOf(exec), resume: textOf(resume) }
  const missing = missingCapabilities(help)
  if (missing.length > 0) return tooOld(codexProgram, missing)
  return {
    features: featuresIn(textOf(features)),
    canIgnoreRules: missingFlags(help.exec, ['--ignore-rules']).length === 0,
    canReplaceInstructions: instructions.kind === 'ended' && instructions.stderr.includes('model instructions file'),
  }
}

const textOf = (outcome: GroupOutcome): string =>
  outcome.kind === 'ended' && outcome.exitCode === 0 ? outcome.stdout : ''

const required = {
  exec: [
    '--json',
    '--sandbox',
    '--cd',
    '--skip-git-repo-check',
    '--output-last-message',
    '--output-schema',
    '--ephemeral',
    '--model',
  ],
  resume: ['--json', '--model'],
}

export const missingCapabilities = ({ exec, resume }: { exec: string; resume: string }): string[] => [
  ...missingFlags(exec, required.exec).map((flag) => `exec ${flag}`),
  ...missingFlags(resume, required.resume).map((flag) => `exec resume ${flag}`),
]

/** Lines such as `shell_tool    stable    true`, without the removed features that old configurations may name. */
export const featuresIn = (list: string): string[] =>
  [...list.matchAll(/^([a-z][\w.]*) +(\S.*?) +(?:true|false)\s*$/gm)].flatMap(([, name, stage]) =>
    name === undefined || stage === 'removed' ? [] : name,
  )

export function parseCapabilities(text: string): Capabilities | null {
  const value: unknown = JSON.parse(text)
  return accepts(capabilitiesSchema, value) ? value : null
}
