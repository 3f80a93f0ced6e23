import { existsSync, lstatSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureFolder, listNames, removePath } from '../state/files.ts'
import { gitDirFolder } from '../state/own-paths.ts'
import { systemErrorCode } from '../system/errors.ts'
import { sha256 } from '../system/sha256.ts'

/** `<git dir>/plan-gate/answers/<session>`: which events the hooks of the settings answer, so that the plugin's need not. */

type Event = { readonly [key: string]: unknown }

const folder = `${gitDirFolder}/answers`
const folderOf = ({ session_id }: Event): string => `${folder}/${sha256(JSON.stringify(session_id) ?? '')}`
const pathOf = (event: Event): string => {
  const { hook_event_name, tool_use_id, prompt_id, source, reason, file_path } = event
  return `${folderOf(event)}/${sha256(JSON.stringify([hook_event_name, tool_use_id, prompt_id, source, reason, file_path]))}`
}

/** The settings' hooks answer always: the plugin's run the `node` on PATH, which a project can set to be silent. */
export function claimAnswer(gitDir: string, event: Event): void {
  try {
    writeFileSync(join(gitDir, pathOf(event)), '')
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT') throw error
    ensureFolder(gitDir, folderOf(event))
    writeFileSync(join(gitDir, pathOf(event)), '')
  }
}

/** Hooks of one event start together; later, it is another event with the same name, or a call that is made again. */
const togetherMs = 10_000

/** Longer where they have answered in this session before: then they are late, because the machine is busy. */
const [patienceMs, longPatienceMs] = [500, 2_000]

/** By a hook of the plugin, where the settings may bring the same: waits for their claim. Two answers are better than none. */
export async function isAnsweredBySettings(gitDir: string, event: Event): Promise<boolean> {
  const giveUpAt = Date.now() + (existsSync(join(gitDir, folderOf(event))) ? longPatienceMs : patienceMs)
  while (!isFresh(gitDir, pathOf(event))) {
    if (Date.now() > giveUpAt) return false
    await new Promise((done) => setTimeout(done, 5))
  }
  return true
}

const isFresh = (gitDir: string, path: string): boolean =>
  Math.abs(Date.now() - (lstatSync(join(gitDir, path), { throwIfNoEntry: false })?.mtimeMs ?? 0)) < togetherMs

/** At the start of a session. */
export function sweepClaims(gitDir: string): void {
  for (const name of listNames(gitDir, folder))
    if (!isFresh(gitDir, `${folder}/${name}`)) removePath(gitDir, `${folder}/${name}`)
}
