import { relative } from 'node:path'
import { ownSkills } from '../gate/place-of.ts'
import { type Answer, failClosed, silence, vetoConfigChange } from '../protocol/answers.ts'
import { parseEvent } from '../protocol/parse-event.ts'
import validate from '../schemas/generated/config-change.js'
import { appendEvent } from '../store/append-event.ts'
import { readThreats } from './read-threats.ts'
import type { Hook } from './run-hook.ts'
import { rememberSettings } from './settings-baseline.ts'
import { worktreeRoot } from './worktree-root.ts'

/**
 * Settings changed while a session runs; Claude Code takes them over at once, unless this hook objects. A veto counts
 * for one event only: the next change that is allowed makes Claude Code read every file again, the refused one too. So
 * all files are looked at each time, and nothing passes while any of them would switch the gate off.
 */
export const guardSettings: Hook = { deadlineMs: 5_000, onFailure: failClosed, work: judge }

async function judge(input: string): Promise<Answer> {
  const parsed = parseEvent(validate, input)
  if (parsed.kind === 'malformed')
    return vetoConfigChange(`plan-gate: a change of settings was refused: ${parsed.why}.`)
  const { source, file_path: path = null } = parsed.event
  const root = worktreeRoot()
  const why = source === 'skills' ? skillThreat(root, path) : settingsThreat(root)
  if (why === null) {
    rememberSettings(root)
    return silence
  }
  await appendEvent(root, { type: 'config-change-vetoed', source, path })
  return vetoConfigChange(
    `plan-gate: the change of ${path ?? source} was not taken over, because the gate would be switched off: ${why}. ` +
      'The files themselves are as they were written; `plan-gate doctor` says what to mend.',
  )
}

function settingsThreat(root: string): string | null {
  const threats = readThreats(root)
  return threats.length === 0 ? null : threats.map(({ file, what }) => `${relative(root, file)}: ${what}`).join('; ')
}

function skillThreat(root: string, path: string | null): string | null {
  const inside = path === null ? '' : relative(root, path)
  return ownSkills.some((name) => inside.startsWith(`.claude/skills/${name}/`))
    ? 'it is one of plan-gate’s own skills'
    : null
}
