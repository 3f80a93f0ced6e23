import { styleText } from 'node:util'
import { tameJson, tameText } from './tame-text.ts'

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
  const [noted, told] = [isColoured(process.stderr, json), isColoured(process.stdout, json)]
  return {
    out: (text) => void process.stdout.write(`${json ? tameJson(text) : tameText(text, told)}\n`),
    note: (text) => void (json ? undefined : process.stderr.write(`${tameText(text, noted)}\n`)),
    json,
    paint: painter(noted),
    paintOut: painter(told),
  }
}

/** Colour only on a terminal, and never with NO_COLOR (https://no-color.org) or TERM=dumb. */
const isColoured = (stream: NodeJS.WriteStream, json: boolean): boolean =>
  stream.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb' && !json

const painter =
  (coloured: boolean): Paint =>
  (style, text) =>
    coloured ? styleText(style, text, { validateStream: false }) : text
