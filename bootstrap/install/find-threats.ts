import { parseSettings, withoutOwnEntries } from '../../src/protocol/settings.ts'
import { settingsThreats, type Threat } from '../../src/protocol/settings-threats.ts'

/** What in a settings file of the worktree would switch the gate off; hooks of ours are written anew in any case. */
export function findThreats(text: string): Threat[] {
  const parsed = parseSettings(text)
  const others = parsed.kind === 'invalid' ? text : JSON.stringify(withoutOwnEntries(parsed.settings, []))
  return settingsThreats(others, { kind: 'others', installed: {} }, false)
}
