import type { Progress, ProgressListener } from '../../bootstrap/progress.ts'
import { neutralise } from '../safety/neutralise.ts'
import type { Terminal } from './terminal.ts'

/** A short line for people on stderr, or a JSON line for programs on stdout. */
export const progressTeller = (terminal: Terminal): ProgressListener =>
  terminal.json
    ? (progress) => terminal.out(JSON.stringify(progress))
    : (progress) => terminal.note(lineOf(shown(progress), terminal))

/** Names of files, what git says and the commands of a configuration may come from anybody. */
const shown = (progress: Progress): Progress =>
  Object.fromEntries(
    Object.entries(progress).map(([key, value]) => [key, typeof value === 'string' ? neutralise(value) : value]),
  ) as Progress

function lineOf(progress: Progress, { paint }: Terminal): string {
  switch (progress.event) {
    case 'prerequisite': {
      const mark = { ok: paint('green', '✓'), warning: paint('yellow', '!'), failed: paint('red', '✗') }[
        progress.status
      ]
      const remedy = progress.remedy === null ? '' : `\n    ${paint('dim', `→ ${neutralise(progress.remedy)}`)}`
      return `${mark} ${neutralise(progress.name)}  ${paint('dim', neutralise(progress.detail))}${remedy}`
    }
    case 'started':
      return paint('dim', `… ${progress.step}: ${neutralise(progress.detail)}`)
    case 'done':
      return `${paint('green', '✓')} ${progress.step}  ${paint('dim', `${neutralise(progress.detail)} (${progress.ms} ms)`)}`
    case 'notice':
      return `${paint('yellow', '!')} ${neutralise(progress.detail)}`
    case 'would':
      return `${progress.action.padEnd(6)} ${neutralise(progress.path)}  ${paint('dim', neutralise(progress.detail))}`
  }
}
