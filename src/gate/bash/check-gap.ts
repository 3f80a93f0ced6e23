import type { Joined } from './join-commands.ts'
import { type Refusal, refuse } from './refusal.ts'

/**
 * Between two commands stands their operator and nothing else. A parser may pass over a comment or an end of line in
 * silence; here each character of the line has to belong to something.
 */
export function checkGap(source: string, from: number, { command, joint }: Joined): Refusal | undefined {
  const gap = source.slice(from, command.pos)
  if (joint === '') return gap.trim() === '' ? undefined : strange(gap)
  // In a GBK locale `中|` may be one character and a half: the pipe would become a letter of the word before it.
  if (gap.startsWith('|') && isNotAscii(source[from - 1]))
    return refuse('quoting', source.slice(from - 1, from + 1), 'has no blank before the |', 'Put a blank before the |.')
  return trimBlanks(gap) === joint ? undefined : strange(gap)
}

/** Inside a command: blanks, and nothing else. */
export function checkBlank(source: string, from: number, to: number): Refusal | undefined {
  const gap = source.slice(from, to)
  return trimBlanks(gap) === '' ? undefined : strange(gap)
}

/** Behind the last command: perhaps a semicolon, perhaps the end of the line. */
export function checkTail(source: string, from: number): Refusal | undefined {
  const tail = source.slice(from)
  return /^[ \t]*;?[ \t\n]*$/.test(tail) ? undefined : strange(tail)
}

const trimBlanks = (text: string): string => text.replace(/^[ \t]+/, '').replace(/[ \t]+$/, '')

const isNotAscii = (character: string | undefined): boolean => character !== undefined && character > '\u007f'

function strange(gap: string): Refusal {
  if (gap.includes('#'))
    return refuse('comment', gap.trim(), 'is a comment, and shells differ in what they take for one', 'Leave it out.')
  if (gap.includes('\n'))
    return refuse('newline', 'a newline', 'separates two commands', 'Run them one by one, or join them by && or ;.')
  return refuse('syntax', gap.trim(), 'stands where the gate expects a word', 'Write one plain command.')
}
