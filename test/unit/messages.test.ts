import { describe, expect, it } from 'vitest'
import { collectMessages } from '../support/messages.ts'

const messages = collectMessages()

/** Words of our own, or of another language, for which the field has better ones. */
const privateWords =
  /\b(?:mend(?:s|ed)?|house|matters?|goes on with|gone on with|is heard|be heard of|trouble of its own|nothing left to spend|meddled|of nobody|whose eyes|must not be heard|takes? (?:it|them) over)\b/i

describe('what a person can read', () => {
  it('is collected', () => {
    expect(messages.length).toBeGreaterThan(2000)
    expect(messages.map(({ text }) => text)).toEqual(
      expect.arrayContaining([
        'No unapproved changes.',
        'write the approval to a file that a team can commit, if everything holds',
      ]),
    )
  })

  it('has no private vocabulary', () => {
    expect(messages.filter(({ text }) => privateWords.test(text))).toEqual([])
  })

  it('has no message over four lines, but for scripts, pages and plans', () => {
    const isCode = (text: string): boolean => /^\s*(?:#!|# |#compdef|const |function \w+\(|…|<|">)/.test(text)
    const long = messages.filter(
      ({ text }) => text.split('\n').filter((line) => line !== '').length > 4 && !isCode(text),
    )
    expect(long.map(({ file, text }) => [file, text.slice(0, 40)])).toEqual([])
  })

  it('says "1 revision", not "1 revisions": a number is never followed by "(s)"', () => {
    expect(messages.filter(({ text }) => /\w\(s\)/.test(text))).toEqual([])
  })
})
