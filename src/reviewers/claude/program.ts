import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Effort } from '../../schemas/review.ts'
import { embedded, type Schema } from '../../schemas/schema.ts'
import { orElse } from '../../system/errors.ts'
import { asRecord, type JsonRecord, parseRecord } from '../../text/json.ts'
import type { ReviewProgram } from '../failure.ts'
import type { ProgramSetup } from '../program-cache.ts'

export const claudeProgram: ReviewProgram = {
  name: 'Claude',
  install: 'npm i -g @anthropic-ai/claude-code',
  update: 'claude update',
  probe: 'claude --help',
  countsThread: false,
}

export type ClaudeSetup = ProgramSetup & {
  readonly sensitiveFiles: readonly string[]
  /** A bubblewrap; null: there is none. */
  readonly findEngine: () => string | null
  readonly limits?: Partial<ClaudeLimits>
}

export type ClaudeLimits = typeof defaultLimits

const defaultLimits = {
  /** Thinking sends signs of life, but a service may hold its answer back. */
  silenceMs: 600_000,
  /** Claude Code would wait for as long as a service asks it to. */
  maxRetryWaitMs: 8_000,
  maxOutputBytes: 8 * 1024 * 1024,
}

export const claudeLimits = ({ limits }: ClaudeSetup): ClaudeLimits => ({ ...defaultLimits, ...limits })

/** The user's environment without what belongs to another session or changes programs; credentials stay. */
export function claudeEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => isClaudeCredential(name) || !foreign.test(name))
  const settings = Object.entries(asRecord(readUserSettings(env).env)).flatMap(([name, value]) =>
    isClaudeCredential(name) && typeof value === 'string' ? [[name, value] as const] : [],
  )
  return { ...Object.fromEntries([...kept, ...settings]), ...fixed }
}

/** Of an outer session, of other reviewers, and variables that affect every program or send telemetry. */
const foreign =
  /^(?:CLAUDE.*|ANTHROPIC_LOG|AI_AGENT|PLAN_GATE_.*|CODEX_.*|OPENAI_.*|NODE_OPTIONS|BUN_.*|LD_.*|DYLD_.*|BASH_ENV|ENV|SHELLOPTS|PS4|OTEL_.*|(?:DIS|EN)ABLE_.*|DEBUG)$/

/** Where and as whom the models are asked; with the user's own settings left out, these of them still count. */
const credentials =
  /^(?:ANTHROPIC_(?!LOG).*|AWS_.*|CLOUD_ML_REGION|VERTEX_REGION_.*|GOOGLE_.*|https?_proxy|HTTPS?_PROXY|NO_PROXY|NODE_EXTRA_CA_CERTS|CLAUDE_(?:CONFIG_DIR|SECURESTORAGE_CONFIG_DIR)|CLAUDE_CODE_(?:OAUTH_TOKEN|CERT_STORE|CLIENT_(?:CERT|KEY|KEY_PASSPHRASE)|API_KEY_HELPER_TTL_MS|USE_(?:BEDROCK|VERTEX|FOUNDRY|MANTLE|ANTHROPIC_\w+)|SKIP_\w+_AUTH))$/

export const isClaudeCredential = (name: string): boolean => credentials.test(name)

const fixed = {
  DISABLE_AUTOUPDATER: '1',
  // A summary in place of what was sent would be reviewed instead of it.
  DISABLE_COMPACT: '1',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  CLAUDE_CODE_DISABLE_ATTACHMENTS: '1',
  CLAUDE_CODE_DISABLE_CLAUDE_MDS: '1',
  CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1',
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
  // A text that the model declines would choose itself another reviewer.
  CLAUDE_CODE_DISABLE_REFUSAL_FALLBACK: '1',
  CLAUDE_CODE_DISABLE_MODEL_ACCESS_FALLBACK: '1',
  // Its own ten would hide a failure for minutes; none would lose a long review to one busy moment.
  CLAUDE_CODE_MAX_RETRIES: '2',
  ENABLE_TOOL_SEARCH: 'false',
}

export const configDir = (env: NodeJS.ProcessEnv): string => env.CLAUDE_CONFIG_DIR || join(homeOf(env), '.claude')
export const homeOf = (env: NodeJS.ProcessEnv): string => env.HOME || homedir()

/** What the user's settings say of credentials, for a Claude Code that reads none of them. */
export function credentialSettings(env: NodeJS.ProcessEnv): JsonRecord {
  const settings = readUserSettings(env)
  return Object.fromEntries(
    credentialHelpers.map((key) => [key, settings[key]] as const).filter(([, value]) => typeof value === 'string'),
  )
}

const credentialHelpers = [
  'apiKeyHelper',
  'awsAuthRefresh',
  'awsCredentialExport',
  'gcpAuthRefresh',
  'forceLoginMethod',
  'forceLoginOrgUUID',
]

const readUserSettings = (env: NodeJS.ProcessEnv): JsonRecord =>
  orElse(() => parseRecord(readFileSync(join(configDir(env), 'settings.json'), 'utf8')) ?? {}, {})

/** The command line of Claude Code in print mode: tools that only read, and nothing of the project or the user. */

type ClaudeRequest = {
  readonly resume: string | null
  readonly keepsSession: boolean
  readonly model: string | null
  readonly effort: Effort | null
  readonly schema: Schema | null
  readonly mayReadFiles: boolean
  readonly systemFile: string
  readonly settingsFile: string
}

/** The prompt comes on stdin, see `formatInput`. */
export const claudeArgs = (request: ClaudeRequest): string[] => [
  '--print',
  ...['--input-format', 'stream-json'],
  ...['--output-format', 'stream-json', '--verbose', '--include-partial-messages'],
  ...isolation,
  ...['--tools', request.mayReadFiles ? readingTools.join(',') : ''],
  ...['--system-prompt-file', request.systemFile],
  ...['--settings', request.settingsFile],
  ...(request.keepsSession ? [] : ['--no-session-persistence']),
  ...(request.model === null ? [] : ['--model', request.model]),
  ...(request.effort === null ? [] : ['--effort', request.effort]),
  ...(request.schema === null ? [] : ['--json-schema', JSON.stringify(embedded(request.schema))]),
  ...(request.resume === null ? [] : ['--resume', request.resume]),
]

export const readingTools = ['Read', 'Grep', 'Glob']

/** The project under review must not instruct its reviewer, and no program of the user's has to run for it. */
const isolation = [
  // Also keeps the file tools within the working directory.
  '--restricted',
  // No CLAUDE.md, skills, plugins, hooks, output styles.
  '--safe-mode',
  '--disable-slash-commands',
  ...['--setting-sources', ''],
  '--strict-mcp-config',
  ...['--permission-mode', 'dontAsk'],
  // Else a session that goes on is instructed as it was when it began.
  ...['--system-prompt-snapshot', 'off'],
]

/** Beyond these, `--system-prompt-file` and `--verbose` are needed, which no help names. */
export const requiredFlags = [
  '--print',
  '--input-format',
  '--output-format',
  '--include-partial-messages',
  ...isolation.filter((word) => word.startsWith('--')),
  '--tools',
  '--system-prompt',
  '--settings',
  '--no-session-persistence',
  '--model',
  '--effort',
  '--json-schema',
  '--resume',
]

/**
 * Claude Code runs a prompt that begins with `/` as a command, and adds the files that it names with `@`, even from
 * outside of the project. It looks for them only in the last block of a message, so what is under review is never that.
 */
export const formatInput = (text: string): string =>
  `${JSON.stringify({
    type: 'user',
    message: {
      role: 'user',
      content: [text, 'That is all. Do what the instructions ask for, and answer.'].map((text) => ({
        type: 'text',
        text,
      })),
    },
  })}\n`
