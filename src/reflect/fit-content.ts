import { clipEnd, clipMiddle } from '../review/clip-text.ts'
import type { Prompt } from '../review/prompts/compose-prompt.ts'
import { safeCut } from '../review/tokens/cut-text.ts'
import { fence, fenceTag } from '../safety/fence.ts'
import { dataRule } from './reflection-kinds.ts'

export type Fitting =
  | { readonly kind: 'whole'; readonly text: string }
  | { readonly kind: 'long'; readonly head: string; readonly middle: string; readonly tail: string }

/** Two fifths from each end stay as they are; what lies between is to be summarised. */
export function splitLong(content: string, maxChars: number): Fitting {
  if (content.length <= maxChars) return { kind: 'whole', text: content }
  const share = Math.floor(maxChars * 0.4)
  const [from, to] = [safeCut(content, share), safeCut(content, content.length - share)]
  return { kind: 'long', head: content.slice(0, from), middle: content.slice(from, to), tail: content.slice(to) }
}

export function composeSummary(middle: string, maxChars: number, random: () => string): Prompt {
  const content = clipMiddle(middle, maxChars)
  const tag = fenceTag([content], random)
  return {
    system: [
      'You summarise the middle of a long text, so that somebody can review the whole. Keep what a reviewer needs: names, signatures, what is called, what changes, what looks wrong, with line numbers where there are some. No judgement, no praise; at most sixty lines.',
      dataRule(tag),
    ].join('\n\n'),
    user: `${fence(content, 'the middle of the text', tag)}\n\nSummarise it now.`,
  }
}

/** `summary` is null when nobody answered: then it is said that the middle is missing. Never longer than `maxChars`. */
export function joinLong(fitting: Fitting, summary: string | null, maxChars: number): string {
  switch (fitting.kind) {
    case 'whole':
      return fitting.text
    case 'long': {
      const { head, middle, tail } = fitting
      const gone = `${middle.length.toLocaleString('en-US')} characters are left out here`
      const text = summary?.trim() ?? ''
      const said =
        text === '' ? `[… ${gone} …]` : `[… ${gone}; a summary of them: …]\n${text}\n[… from here on as it is …]`
      const room = Math.max(0, maxChars - head.length - tail.length - 2)
      return [head, clipEnd(said, room), tail].join('\n')
    }
  }
}
