import { readInstallRecord } from '../store/install-record.ts'

/** Whether `--reviewer` of the install made the route table: a choice of the person at the keyboard, not of a file. */
export function isReviewerPinned(gitDir: string): boolean {
  const record = readInstallRecord(gitDir)
  return record.kind === 'read' && record.value.reviewer !== null
}
