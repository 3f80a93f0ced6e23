import type { GitDirs } from '../../src/system/git-dirs.ts'
import { UserError } from '../../src/system/user-error.ts'
import { findForeign } from '../install/find-foreign.ts'
import { surveyInstall } from '../install/survey-install.ts'
import { type CheckResult, failed } from '../prerequisites/row.ts'

/** What a later pull may have brought, and no install would have accepted. */
export async function checkForeign(root: string, gitDirs: GitDirs): Promise<CheckResult[]> {
  try {
    const foreign = findForeign(await surveyInstall(root, gitDirs))
    return foreign === null ? [] : [failed('install', foreign.what, foreign.remedy)]
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return [failed('install', error.message.replace(/\.$/, ''), error.nextStep)]
  }
}
