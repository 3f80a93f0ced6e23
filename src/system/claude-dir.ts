import { homedir } from 'node:os'
import { join } from 'node:path'

/** Where Claude Code keeps the user's own settings, plans and transcripts. */
export const claudeDir = (): string => process.env.CLAUDE_CONFIG_DIR || join(homedir(), '.claude')

/** Its record of projects, the trusted ones among them. */
export const claudeStateFile = (): string => join(process.env.CLAUDE_CONFIG_DIR || homedir(), '.claude.json')
