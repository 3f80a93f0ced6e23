import { writeSync } from 'node:fs'
import { styleText } from 'node:util'
import { type Line, layoutWatch, type View } from './layout-watch.ts'

export type Screen = { draw: (view: View) => void; close: () => void }

const enter = '\u001b[?1049h\u001b[?25l\u001b[2J'
const leave = '\u001b[?25h\u001b[?1049l'

/**
 * The whole terminal, until it is closed. Only what every terminal has known for decades: a second screen, a hidden
 * cursor, rows by number. Each row is put in its place, so that one that a terminal shows wider than expected spoils
 * nothing but itself; and only rows that changed are sent, for the sake of slow lines.
 */
export function openScreen(colour: boolean): Screen {
  const { stdout } = process
  let shown: string[] = []
  let last: View | null = null
  const draw = (view: View): void => {
    last = view
    // What the terminal has not taken yet would only pile up; the next look draws what is true then.
    if (stdout.writableNeedDrain) return
    const { columns = 80, rows = 24 } = stdout
    // The last column stays free: some terminals go to the next row as soon as it is written to.
    const lines = layoutWatch(view, { columns: Math.max(1, (columns || 80) - 1), rows: rows || 24 })
    const next = lines.map((line) => painted(line, colour))
    const changed = next.flatMap((text, index) =>
      text === shown[index] ? [] : [`\u001b[${index + 1};1H${text}\u001b[K`],
    )
    shown = next
    if (changed.length > 0) stdout.write(changed.join(''))
  }
  const resized = (): void => {
    shown = []
    stdout.write('\u001b[2J')
    if (last !== null) draw(last)
  }
  let isOpen = true
  const close = (): void => {
    if (!isOpen) return
    isOpen = false
    stdout.removeListener('resize', resized)
    process.removeListener('exit', close)
    try {
      writeSync(1, leave)
    } catch {
      // The terminal has gone, and its state with it.
    }
  }
  stdout.on('resize', resized)
  // Whatever ends the process, the terminal is given back as it was.
  process.on('exit', close)
  stdout.write(enter)
  return { draw, close }
}

const styles = { good: 'green', bad: 'red', warn: 'yellow', busy: 'cyan', quiet: 'dim', strong: 'bold' } as const

const painted = (line: Line, colour: boolean): string =>
  line
    .map(({ text, tone }) =>
      colour && tone !== 'plain' ? styleText(styles[tone], text, { validateStream: false }) : text,
    )
    .join('')
