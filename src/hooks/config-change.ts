import { relative } from 'node:path'
import { ownSkills } from '../gate/place-of.ts'
import { type Answer, failClosed, silence, vetoConfigChange } from '../protocol/answers.ts'
import { parseEvent } from '../protocol/parse-event.ts'
import validate from '../schemas/generated/config-change.js'
import { appendEvent } from '../store/append-event.ts'
import { readThreats } from './read-threats.ts'
import { runHook } from './run-hook.ts'
import { worktreeRoot } from './worktree-root.ts'

await runHook({ deadlineMs: 5_000, onFailure: failClosed, work: judge })

/**
 * Settings changed while a session runs; Claude Code takes them over at once, unless this hook objects. It objects when
 * the change would switch the gate off, and lets every other change of the user's pass.
 */
async function judge(input: string): Promise<Answer> {
  const parsed = parseEvent(validate, input)
  if (parsed.kind === 'malformed')
    return vetoConfigChange(`plan-gate: a change of settings was refused: ${parsed.why}.`)
  const { source, file_path: path = null } = parsed.event
  const root = worktreeRoot()
  const why = source === 'skills' ? skillThreat(root, path) : settingsThreat(root, path)
  if (why === null) return silence
  await appendEvent(root, { type: 'config-change-vetoed', source, path })
  return vetoConfigChange(
    `plan-gate: this change of ${path ?? source} was not taken over, because it would switch the gate off: ${why}. ` +
      'The file itself is as it was written; run `plan-gate doctor` to see what to mend.',
  )
}

/** Without a path any of the files may be meant, so all are looked at. */
function settingsThreat(root: string, path: string | null): string | null {
  const threats = readThreats(root).filter((threat) => path === null || threat.file === path)
  return threats.length === 0 ? null : threats.map(({ file, what }) => `${relative(root, file)}: ${what}`).join('; ')
}

function skillThreat(root: string, path: string | null): string | null {
  const inside = path === null ? '' : relative(root, path)
  return ownSkills.some((name) => inside.startsWith(`.claude/skills/${name}/`))
    ? 'it is one of plan-gate’s own skills'
    : null
}
