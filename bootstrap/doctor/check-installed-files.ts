import type { InstallRecord } from '../../src/schemas/install-record.ts'
import { readRegular } from '../../src/store/read-regular.ts'
import { sha256 } from '../../src/store/sha256.ts'
import { packageVersion } from '../../src/system/package-files.ts'
import { type CheckResult, failed, ok, warning } from '../prerequisites/row.ts'

/** Whether each file is still what the install wrote. */
export function checkInstalledFiles(root: string, record: InstallRecord): CheckResult[] {
  const rows: CheckResult[] = record.files.flatMap(({ path, sha256: digest }) => {
    const read = readRegular(root, path)
    if (read.kind === 'absent')
      return [failed('install', `${path} is missing`, 'Run `plan-gate install` to put it back.')]
    if (read.kind === 'refused') return [failed('install', read.why, 'Remove it, then run `plan-gate install`.')]
    const same = sha256(read.bytes) === digest
    return same ? [] : [failed('install', `${path} was altered`, 'Run `plan-gate install` to put it back.')]
  })
  if (!record.complete) rows.push(failed('install', 'it was interrupted', 'Run `plan-gate install` to finish it.'))
  if (record.package_version !== packageVersion())
    rows.push(
      warning(
        'install',
        `from plan-gate ${record.package_version}, this is ${packageVersion()}`,
        'Run `plan-gate install` to update it.',
      ),
    )
  return rows.length > 0 ? rows : [ok('install', `${record.files.length} files as they were installed`)]
}
