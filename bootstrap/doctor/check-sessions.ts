import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { InstallRecord } from '../../src/schemas/install-record.ts'
import { listSessions } from '../../src/store/list-sessions.ts'
import { claudeDir } from '../../src/system/claude-dir.ts'
import { resolvePath } from '../../src/system/resolve-path.ts'
import { type CheckResult, failed, isAtLeast, ok, versionIn, warning } from '../prerequisites/row.ts'

type Transcript = { session: string; cwd: string }

/**
 * Did the sessions that ran here run under the gate? Ours leave a heartbeat; Claude Code's own transcripts tell of
 * those that did not: started with --bare or --safe-mode, with hooks switched off, or from a subfolder, where Claude
 * Code does not read this worktree's settings.
 */
export function checkSessions(root: string, record: InstallRecord): CheckResult[] {
  const listed = listSessions(root)
  const unread = listed.find(({ why }) => why !== null)
  if (unread !== undefined)
    return [failed('sessions', `${unread.why}`, 'Put that right, or remove the file; then run this again.')]
  const seen = listed.flatMap(({ session }) => (session === null ? [] : [session]))
  const known = new Set(seen.map((session) => session.session_id))
  const since = Date.parse(record.installed_at)
  const ungated = transcriptsSince(root, since).filter(({ session }) => !known.has(session))
  const rows = ungated
    .slice(0, 5)
    .map(({ session, cwd }) =>
      cwd === root
        ? failed(
            'sessions',
            `session ${session} ran here without a heartbeat of the gate`,
            'Start Claude Code without --bare and --safe-mode; see the settings rows of this report.',
          )
        : failed(
            'sessions',
            `session ${session} was started in ${cwd}, where Claude Code does not see this worktree's hooks`,
            `Start it in ${root}.`,
          ),
    )
  const old = seen.find(
    ({ client_version: version }) => version !== null && !isAtLeast(versionIn(version) ?? [0], [2, 1, 295]),
  )
  if (old !== undefined)
    rows.push(
      warning(
        'sessions',
        `session ${old.session_id} runs Claude Code ${old.client_version}, where a hook that hangs does not block`,
        'Update it: claude update',
      ),
    )
  if (rows.length > 0) return rows
  const last = seen[0]
  return [
    last === undefined
      ? warning(
          'sessions',
          'no session has started here yet, so no hook has been heard of',
          'Start `claude` in the worktree; then run this again.',
        )
      : ok(
          'sessions',
          `last heartbeat ${last.last_seen_at} (Claude Code ${last.client_version ?? 'of an unknown version'})`,
        ),
  ]
}

function transcriptsSince(root: string, since: number): Transcript[] {
  const projects = join(claudeDir(), 'projects')
  const resolved = resolvePath(root)
  const real = resolved.kind === 'resolved' ? resolved.real : root
  return names(projects)
    .filter((name) => name.startsWith(folderName(real)) || name.startsWith(folderName(root)))
    .flatMap((name) => names(join(projects, name)).map((file) => join(projects, name, file)))
    .filter((file) => file.endsWith('.jsonl') && statSync(file).mtimeMs >= since)
    .flatMap((file) => startOf(file) ?? [])
    .filter(({ cwd }) => cwd === root || cwd === real || cwd.startsWith(`${root}/`) || cwd.startsWith(`${real}/`))
}

/** Claude Code's own name for a folder. */
const folderName = (path: string): string => path.replace(/[^a-zA-Z0-9]/g, '-')

function names(dir: string): string[] {
  try {
    return readdirSync(dir)
  } catch {
    return []
  }
}

/** The first lines of a transcript name its session and where it was started. */
function startOf(file: string): Transcript | null {
  const head = headOf(file)
  const session = /"sessionId":"([\w-]+)"/.exec(head)?.[1]
  const cwd = /"cwd":("(?:[^"\\]|\\.)*")/.exec(head)?.[1]
  return session === undefined || cwd === undefined ? null : { session, cwd: JSON.parse(cwd) as string }
}

function headOf(file: string): string {
  const fd = openSync(file, 'r')
  try {
    const head = Buffer.alloc(64 * 1024)
    return head.subarray(0, readSync(fd, head, 0, head.length, 0)).toString('utf8')
  } finally {
    closeSync(fd)
  }
}
