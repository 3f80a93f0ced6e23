import { basename, dirname } from 'node:path'
import { isRecord, parseSettings } from '../../src/protocol/settings.ts'
import { readRegular } from '../../src/store/read-regular.ts'
import { claudeStateFile } from '../../src/system/claude-dir.ts'
import { type CheckResult, ok, warning } from '../prerequisites/row.ts'

/** Claude Code runs no hook in a folder that the user has not trusted; trusting the main checkout covers its worktrees. */
export function checkTrust(mainRoot: string): CheckResult {
  const file = claudeStateFile()
  const read = readRegular(dirname(file), basename(file), 64 * 1024 * 1024)
  const parsed = parseSettings(read.kind === 'read' ? read.bytes.toString('utf8') : '')
  const projects = parsed.kind === 'settings' && isRecord(parsed.settings.projects) ? parsed.settings.projects : {}
  const project = projects[mainRoot]
  return isRecord(project) && project.hasTrustDialogAccepted === true
    ? ok('trust', `${mainRoot} is trusted`)
    : warning(
        'trust',
        `${mainRoot} is not trusted in Claude Code yet`,
        `Claude Code will ask once; until you say yes it runs no hooks. (${file})`,
      )
}
