import { basename, dirname, join } from 'node:path'
import { type EndedCall, hasEnded } from '../gate/call-notes.ts'
import { closeGate } from '../gate/closed-mark.ts'
import type { Decision } from '../gate/decide.ts'
import { targetOf, toolCallOf } from '../gate/tools.ts'
import { onceWritten, transcriptLines } from '../gate/transcript.ts'
import { endApproval } from '../plan/sync-approval.ts'
import type { AfterTool as Event } from '../schemas/hook-events.ts'
import { lstatEntry, readAnyJson } from '../state/files.ts'
import { appendEvent } from '../state/ledger.ts'
import { hooksDir, installRecordPath, settingsFiles } from '../state/own-paths.ts'
import { sessionFolder } from '../state/sessions.ts'
import type { GitDirs } from '../system/git-dirs.ts'
import { claudeDir } from '../system/paths.ts'
import { printable } from '../text/clean.ts'
import { mayHoldSecret, withheld } from './may-hold-secret.ts'

/** Calls that ran although the gate had not let them through as they ran. */

/**
 * `skipped`: none of our PreToolUse hooks ran, as a plugin module can bring about. `rewritten`: another hook gave the call
 * an input that would have been refused.
 */
type Bypass = 'skipped' | 'rewritten'

/** Null, or what ends the approval and closes the gate. `ended`: null for a call without a note. */
export async function findBypass(
  root: string,
  gitDirs: GitDirs,
  event: Event,
  ended: EndedCall | null,
  judgeAgain: JudgeAgain,
): Promise<((wasApproved: boolean) => Promise<string>) | null> {
  const how = await bypassOf(root, gitDirs.own, event, ended, judgeAgain)
  return how === null ? null : (wasApproved) => answerBypass(root, gitDirs, event, how, wasApproved)
}

type JudgeAgain = (root: string, event: Event, wasOpen: boolean) => Promise<Decision>

async function bypassOf(
  root: string,
  gitDir: string,
  event: Event,
  ended: EndedCall | null,
  judgeAgain: JudgeAgain,
): Promise<Bypass | null> {
  if (toolCallOf(event.tool_name, event.tool_input).kind === 'harmless') return null
  if (ended === null) return mustHaveNote(root, gitDir, event) && !hasEnded(gitDir, event) ? 'skipped' : null
  const { kind } = await judgeAgain(root, event, ended.wasOpen)
  return kind === 'deny' || (kind === 'ask' && !ended.asked) ? 'rewritten' : null
}

/** Not a call that began before the gate was installed or updated, or before this session had heard of it. */
function mustHaveNote(root: string, gitDir: string, event: Event): boolean {
  const { session_id, duration_ms = 0 } = event
  const installed = lstatEntry(gitDir, installRecordPath)
  if (session_id === undefined || installed.kind !== 'entry') return false
  const session = lstatEntry(root, `${sessionFolder(session_id)}/session.json`)
  const began = Date.now() - duration_ms
  if (session.kind === 'entry') return began > Math.max(installed.stat.mtimeMs, session.stat.mtimeMs)
  // A module can skip SessionStart, too.
  return sessionBegan(event) > installed.stat.mtimeMs
}

/** NaN where the transcript does not say. */
const sessionBegan = ({ transcript_path }: Event): number =>
  Date.parse(
    onceWritten(() => /"timestamp":"([^"]+)"/.exec(transcriptLines(transcript_path).join('\n'))?.[1] ?? null) ?? '',
  )

/** Returns what to tell. */
async function answerBypass(
  root: string,
  gitDirs: GitDirs,
  event: Event,
  how: Bypass,
  wasApproved: boolean,
): Promise<string> {
  const [tool, found] = [printable(event.tool_name), targetOf(event.tool_input)]
  const target = (await mayHoldSecret(found)) ? withheld : found
  const what = how === 'skipped' ? `${tool} ran unchecked` : `${tool} was rewritten after it was checked`
  if (event.session_id !== undefined)
    closeGate(gitDirs.own, event.session_id, `${what} (${target}); \`plan-gate doctor\` says what to look at`)
  if (wasApproved) await endApproval(root, what)
  await appendEvent(root, { type: 'gate-bypassed', tool, target, how })
  const others = otherHooks(root, gitDirs)
  return [
    how === 'skipped'
      ? `plan-gate: ${tool} ran, and the gate was not asked: ${target}`
      : `plan-gate: a hook rewrote this ${tool} call after the gate had checked it. What ran is not allowed: ${target}`,
    how === 'skipped'
      ? 'Something skips the hooks of plan-gate: a plugin module of this repository, of ~/.claude/skills or of an installed plugin can do that.'
      : `Another PreToolUse hook changes the input of calls${others.length === 0 ? ': one of a plugin' : `; there are some in ${others.join(', ')}`}.`,
    `${wasApproved ? 'The approval has ended, and the' : 'The'} gate stays closed in this session.`,
    'Stop here and tell the user what was written. What to look at: `plan-gate doctor`; once the cause is gone, a new session has the gate again.',
  ].join('\n')
}

/** Settings files with PreToolUse hooks that are not ours. */
const otherHooks = (root: string, { mainRoot }: GitDirs): string[] =>
  [
    ...[...new Set([root, mainRoot ?? root])].flatMap((dir) => settingsFiles.map((path) => join(dir, path))),
    join(claudeDir(), 'settings.json'),
  ].filter((path) => {
    const { hooks } = (readAnyJson(dirname(path), basename(path)) ?? {}) as { hooks?: { PreToolUse?: unknown } }
    const groups = hooks?.PreToolUse
    return Array.isArray(groups) && groups.some((group) => !JSON.stringify(group).includes(hooksDir))
  })
