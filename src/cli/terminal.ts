import { styleText } from 'node:util'
import { tameJson, tameText } from './tame-text.ts'

export type Terminal = {
  /** Results; what a program may read. */
  out: (text: string) => void
  /** Progress and problems. */
  note: (text: string) => void
  json: boolean
  paint: (style: 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', text: string) => string
}

/** Colour only on a terminal, and never with NO_COLOR (https://no-color.org) or TERM=dumb. */
export function openTerminal(json: boolean): Terminal {
  const colour = process.stderr.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb' && !json
  return {
    out: (text) => void process.stdout.write(`${json ? tameJson(text) : tameText(text, colour)}\n`),
    note: (text) => void (json ? undefined : process.stderr.write(`${tameText(text, colour)}\n`)),
    json,
    paint: (style, text) => (colour ? styleText(style, text) : text),
  }
}
