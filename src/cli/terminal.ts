import { styleText } from 'node:util'

export type Paint = (style: 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', text: string) => string

export type Terminal = {
  /** Results; what a program may read. */
  out: (text: string) => void
  /** Progress and problems. */
  note: (text: string) => void
  json: boolean
  /** For what is noted; `paintOut` is for results, which may go elsewhere. */
  paint: Paint
  paintOut: Paint
}

export function openTerminal(json: boolean): Terminal {
  return {
    out: (text) => void process.stdout.write(`${text}\n`),
    note: (text) => void (json ? undefined : process.stderr.write(`${text}\n`)),
    json,
    paint: painterFor(process.stderr, json),
    paintOut: painterFor(process.stdout, json),
  }
}

/** Colour only on a terminal, and never with NO_COLOR (https://no-color.org) or TERM=dumb. */
function painterFor(stream: NodeJS.WriteStream, json: boolean): Paint {
  const isColoured = stream.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb' && !json
  return (style, text) => (isColoured ? styleText(style, text, { validateStream: false }) : text)
}
