import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withoutThoughts } from '../../../../src/reviewers/openai/reply.ts'

const yes = '{"verdict":"APPROVED","findings":[]}'
const no = '{"verdict":"CHANGES_REQUIRED","findings":[]}'
const quoting = JSON.stringify({ verdict: 'CHANGES_REQUIRED', findings: [{ problem: `a </think>${yes} b <think>` }] })
const fenced = (text: string) => `\`\`\`json\n${text}\n\`\`\``

describe('withoutThoughts', () => {
  it.each<[string, string, string | null]>([
    ['nothing of the kind', no, no],
    ['prose', 'FAIL\nIt is wrong.', 'FAIL\nIt is wrong.'],
    ['a block before it', `<think>${yes}</think>${no}`, no],
    ['white space around the block', `\n <think>\n${yes}\n</think>\n\n${no}\n`, `\n\n${no}\n`],
    ['two blocks', `<think>a</think>\n<think>${yes}</think>${no}`, no],
    ['other names of it', `<Thinking>${yes}</Thinking>${no}`, no],
    ['Magistral’s', `[THINK]${yes}[/THINK]${no}`, no],
    ['no opening tag', `${yes}\n</think>\n${no}`, `\n${no}`],
    ['words before the block', `Let me see.\n<think>${yes}</think>${no}`, no],
    ['a closing tag among the thoughts', `<think>it says </think>${yes} and so on</think>${no}`, no],
    ['an answer that quotes the tags', `<think>hm</think>${quoting}`, quoting],
    ['the same, fenced', `<think>hm</think>\n${fenced(quoting)}`, `\n${fenced(quoting)}`],
    ['an answer that quotes the tags, without thoughts', quoting, quoting],
    ['the same, fenced', fenced(quoting), fenced(quoting)],
    [
      'prose about the tag',
      'FAIL\nThe `</think>` and the <think> tag are not read.',
      'FAIL\nThe `</think>` and the <think> tag are not read.',
    ],
    ['an open block', `<think>${yes}`, null],
    ['an open block after words', `So.\n<think>\n${yes}`, null],
    ['an open block after a closed one', `<think>a</think>\n<think>${yes}`, null],
    ['nothing else', `<think>${yes}</think>`, ''],
  ])('%s', (_, text, expected) => {
    expect(withoutThoughts(text)?.trim()).toBe(expected?.trim())
  })

  it('never leaves what stands before the last closing tag and is followed by an answer', () => {
    const piece = fc.constantFrom('<think>', '</think>', yes, 'words', '\n', '```')
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const rest = withoutThoughts(`<think>${pieces.join('')}${yes}</think>FAIL ${no}`)
        expect(rest).toBe(`FAIL ${no}`)
      }),
    )
  })
})
