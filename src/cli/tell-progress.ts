import type { Progress, Tell } from '../../bootstrap/progress.ts'
import type { Terminal } from './terminal.ts'

/** A short line for people on stderr, or a JSON line for programs on stdout. */
export const progressTeller = (terminal: Terminal): Tell =>
  terminal.json
    ? (progress) => terminal.out(JSON.stringify(progress))
    : (progress) => terminal.note(lineOf(progress, terminal))

function lineOf(progress: Progress, { paint }: Terminal): string {
  switch (progress.event) {
    case 'prerequisite': {
      const mark = { ok: paint('green', '✓'), warning: paint('yellow', '!'), failed: paint('red', '✗') }[
        progress.status
      ]
      const remedy = progress.remedy === null ? '' : `\n    ${paint('dim', `→ ${progress.remedy}`)}`
      return `${mark} ${progress.name}  ${paint('dim', progress.detail)}${remedy}`
    }
    case 'started':
      return paint('dim', `… ${progress.step}: ${progress.detail}`)
    case 'done':
      return `${paint('green', '✓')} ${progress.step}  ${paint('dim', `${progress.detail} (${progress.ms} ms)`)}`
    case 'notice':
      return `${paint('yellow', '!')} ${progress.detail}`
    case 'would':
      return `${progress.action.padEnd(6)} ${progress.path}  ${paint('dim', progress.detail)}`
  }
}
