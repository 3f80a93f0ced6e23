/** The command line of Claude Code in print mode: tools that only read, and nothing of the project or the user. */
import type { Effort } from '../../schemas/review.ts'
import { embedded, type Schema } from '../../schemas/schema.ts'

type ClaudeRequest = {
  /** The session file to continue. */
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
