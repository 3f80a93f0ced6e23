import { type Refusal, refuse } from './refusal.ts'
import { type CommandRow, checkRow, type RowContext } from './row.ts'

/**
 * What xargs may start: none of their flags does more than read, so no name of a file can be one. grep is not among them:
 * where it is ugrep, a file can be named --filter=….
 */
const starts = ['basename', 'cat', 'dirname', 'head', 'ls', 'stat', 'wc']

const plain = /^(?:-[0rtx]+|--null|--no-run-if-empty|--verbose)$/
const valued = /^-(?:([nLP])(\d*)|(I)((?:\{\}|[%@])?)|(d)(.*))$/s
const values: { readonly [flag: string]: RegExp } = {
  n: /^\d+$/,
  L: /^\d+$/,
  P: /^\d+$/,
  I: /^(?:\{\}|[%@])$/,
  d: /^(?:.|\\[n0t])$/s,
}

/** `xargs -0 -n 1 wc -l`. What it replaces by -I cannot be the command. */
export function checkXargs(
  words: readonly string[],
  context: RowContext,
  commands: ReadonlyMap<string, CommandRow>,
): Refusal | undefined {
  if (!context.isPiped)
    return refuse('stdin', 'xargs', 'reads only stdin', 'Put it behind a |: rg -l pattern | xargs wc -l.')
  let index = 0
  for (; index < words.length; index += 1) {
    const word = words[index] ?? ''
    if (plain.test(word)) continue
    if (!word.startsWith('-')) break
    const [flag = '', glued = ''] = (valued.exec(word) ?? []).slice(1).filter((part) => part !== undefined)
    const value = glued === '' ? words[index + 1] : glued
    if (flag === '' || value === undefined || values[flag]?.test(value) !== true)
      return refuse('flag', word, 'is not on the list of xargs flags', 'Use -0, -r, -n <number>, -L <number> or -I {}.')
    if (glued === '') index += 1
  }
  const [name = '', ...rest] = words.slice(index)
  const row = starts.includes(name) ? commands.get(name) : undefined
  return row === undefined
    ? refuse('command', name, 'is not a command that xargs may start', `Allowed are ${starts.join(', ')}.`)
    : checkRow(row, name, rest, context)
}
