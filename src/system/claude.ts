import { join } from 'node:path/posix'

/** Where Claude Code keeps the user's own settings, plans and transcripts. */
export const claudeDir = (): string => process.env.CLAUDE_CONFIG_DIR || join(homeDir(), '.claude')

/** Its record of projects, the trusted ones among them. */
export const claudeStateFile = (): string => join(process.env.CLAUDE_CONFIG_DIR || homeDir(), '.claude.json')

/** HOME first: `node:os` takes a millisecond to load. */
export const homeDir = (): string => process.env.HOME || process.getBuiltinModule('node:os').homedir()
