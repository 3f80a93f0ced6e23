import { type Refusal, refuse } from './refusal.ts'

const longest = 8_000

/**
 * Control characters, what ends a line outside of ASCII, and what reorders or hides text before the eyes of the person
 * who reads the transcript. Tab and newline are judged where they stand.
 */
const unprintable =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\p{Surrogate}/u

/** What can be said of a command line before anybody parses it. The length comes first: nothing else reads a long one. */
export function checkText(source: string): Refusal | undefined {
  if (source.length > longest)
    return refuse(
      'too-long',
      source.slice(0, 60),
      `begins a line of ${source.length} characters; the gate judges at most ${longest}`,
      'Split it into shorter commands.',
    )
  const found = unprintable.exec(source)
  if (found !== null)
    return refuse(
      'character',
      `U+${(found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`,
      'is a control or invisible character, which a shell and a reader may take for different things',
      'Write the line without it (a carriage return is never needed).',
    )
  if (source.trim() === '') return refuse('empty', '', 'is an empty command line', 'Say what to run.')
  return undefined
}
