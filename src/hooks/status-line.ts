import { join } from 'node:path'
import { hasOtherStatusLine, isRecord, parseSettings } from '../protocol/settings.ts'
import { claudeDir } from '../system/claude-dir.ts'
import { endProcess } from '../system/end-process.ts'
import { formatStatusLine, type GlanceLine } from './describe-at-a-glance.ts'
import { readStatusSnapshot } from './read-at-a-glance.ts'
import { readThroughLinks } from './read-through-links.ts'
import { worktreeRoot } from './worktree-root.ts'

/**
 * The line below Claude Code's prompt. It waits for nothing: what Claude Code says on stdin is not needed, and files are
 * opened so that no pipe and no lock can hold it up. Whatever goes wrong, there is no line, and nobody is disturbed.
 */
try {
  const root = worktreeRoot()
  const theirs = otherStatusLine(root)
  if (theirs !== null) giveWayTo(theirs)
  endProcess({ stdout: `${painted(formatStatusLine(readStatusSnapshot(root), Date.now()))}\n`, exitCode: 0 })
} catch {
  endProcess({ exitCode: 0 })
}

/** A line that the user has set up since we were installed; in Claude Code's own order it would come after ours. */
function otherStatusLine(root: string): string | null {
  const files = [
    join(root, '.claude/settings.local.json'),
    join(root, '.claude/settings.json'),
    join(claudeDir(), 'settings.json'),
  ]
  for (const file of files) {
    const read = readThroughLinks(file)
    const parsed = parseSettings(read.kind === 'read' ? read.bytes.toString('utf8') : '')
    if (parsed.kind === 'invalid' || !hasOtherStatusLine(parsed.settings)) continue
    const { statusLine } = parsed.settings
    return isRecord(statusLine) && typeof statusLine.command === 'string' ? statusLine.command : null
  }
  return null
}

/** Run as Claude Code would have run it: with the same input, and its output as it comes. */
function giveWayTo(command: string): never {
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  spawnSync(command, { shell: true, stdio: ['inherit', 'inherit', 'ignore'], timeout: 4_500 })
  return endProcess({ exitCode: 0 })
}

function painted({ tone, text }: GlanceLine): string {
  const colour = { good: 32, bad: 31, busy: 36, waiting: 33 }[tone]
  return process.env.NO_COLOR ? text : `\u001b[${colour}m${text}\u001b[0m`
}
