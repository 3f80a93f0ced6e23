import { describe, expect, it } from 'vitest'
import { codeMark, parseMarkdown, scanMarkdown } from '../../../src/text/markdown.ts'

/** Each line as `kind prose`; headings with their rank, and what is open after the last line. */
function shown(text: string): string[] {
  const { lines } = parseMarkdown(text)
  const open = lines.at(-1)?.open ?? ''
  return [
    ...lines.map(({ kind, level, prose }) => `${kind}${level || ''} ${prose.replaceAll(codeMark, '¤')}`.trimEnd()),
    ...(open === '' ? [] : [`open ${open}`]),
  ]
}

describe('parseMarkdown', () => {
  it.each<{ name: string; text: string; expected: readonly string[] }>([
    { name: 'nothing', text: '', expected: ['blank'] },
    {
      name: 'headings of each rank, and what is none',
      text: '# a\n###### b\n####### c\n#d\n   # e\n    # f\n##',
      expected: [
        'heading1 # a',
        'heading6 ###### b',
        'text ####### c',
        'text #d',
        'heading1    # e',
        'text     # f',
        'heading2 ##',
      ],
    },
    { name: 'CRLF', text: '# a\r\n\r\nb\r\n', expected: ['heading1 # a', 'blank', 'text b', 'blank'] },
    { name: 'a byte order mark', text: '\ufeff# a', expected: ['heading1 # a'] },
    {
      name: 'underlined headings',
      text: 'a\n===\nb\n--\n',
      expected: ['heading1 a', 'blank', 'heading2 b', 'blank', 'blank'],
    },
    {
      name: 'underlines that are rules, and of lists, quotations and tables',
      text: 'a\n\n---\n- a\n---\n> a\n---\n| a |\n---',
      expected: [
        'text a',
        'blank',
        'blank ---',
        'text - a',
        'blank ---',
        'text > a',
        'blank ---',
        'text | a |',
        'blank ---',
      ],
    },
    { name: 'a heading over an underline', text: '# a\n---', expected: ['heading1 # a', 'blank ---'] },
    {
      name: 'a code block, in which nothing is a heading or a comment',
      text: '```ts\n# a\n\n<!-- b\n```\n# c',
      expected: ['blank', 'code', 'blank', 'code', 'blank', 'heading1 # c'],
    },
    {
      name: 'fences that are too short, of the other kind, or have an info string',
      text: '````\n```\n~~~~\n```` js\n````\na',
      expected: ['blank', 'code', 'code', 'code', 'blank', 'text a'],
    },
    { name: 'a code block that is never closed', text: '~~~~\n# a', expected: ['blank', 'code', 'open ~~~~'] },
    {
      name: 'a code span that looks like a fence',
      text: '```a``` b\n# c',
      expected: ['text ¤¤¤¤¤¤¤ b', 'heading1 # c'],
    },
    {
      name: 'indented code, but not in a paragraph or a list',
      text: '\n    a\n\nb\n    c\n\n- d\n\n    e',
      expected: ['blank', 'code', 'blank', 'text b', 'text     c', 'blank', 'text - d', 'blank', 'text     e'],
    },
    {
      name: 'a comment over lines, with a hidden heading and a fence',
      text: 'a\n<!-- b\n# c\n```\n--> d\n# e',
      expected: ['text a', 'blank', 'blank', 'blank', 'text     d', 'heading1 # e'],
    },
    { name: 'comments within a line', text: 'a <!-- b --> c <!-- d -->', expected: ['text a            c'] },
    {
      name: 'a comment in a line that a later line closes',
      text: 'a <!-- b\n# c\n--> d',
      expected: ['text a', 'blank', 'text     d'],
    },
    {
      name: 'a comment in a line that is never closed',
      text: 'a <!-- b\n# c',
      expected: ['text a <!-- b', 'heading1 # c'],
    },
    {
      name: 'a comment at the start of a line that is never closed',
      text: 'a\n  <!-- b\n# c',
      expected: ['text a', 'blank', 'blank', 'open -->'],
    },
    {
      name: 'a comment that ends inside of backticks',
      text: '<!-- `a --> b`\n# c',
      expected: ['text            ¤¤¤', 'heading1 # c'],
    },
    {
      name: 'a comment in backticks',
      text: 'the mark `<!--` opens one\n# c',
      expected: ['text the mark ¤¤¤¤¤¤ opens one', 'heading1 # c'],
    },
    {
      name: 'front matter',
      text: '---\n# a\nb\n---\n# c',
      expected: ['blank', 'blank', 'blank', 'blank', 'heading1 # c'],
    },
    { name: 'front matter that never ends', text: '---\n# a', expected: ['blank ---', 'heading1 # a'] },
    {
      name: 'code spans, quotations and the targets of links',
      text: "``a ` b`` \"c\" \u201cd\u201d (it's) 'e' [f](g)",
      expected: ["text ¤¤¤¤¤¤¤¤¤ ¤¤¤ ¤¤¤ (it's) ¤¤¤ [f¤¤¤¤"],
    },
    { name: 'rules', text: '***\n- - -\n__', expected: ['blank ***', 'blank - - -', 'text __'] },
  ])('$name', ({ text, expected }) => {
    expect(shown(text)).toEqual(expected)
  })

  it('knows where each heading ends, and calls it by its words', () => {
    expect(parseMarkdown('# **1. Title:** #\na\n## B ##\n### c\n\nD\n--\nd\n').headings).toEqual([
      { level: 1, text: '**1. Title:**', title: 'Title', number: 1, end: 9 },
      { level: 2, text: 'B', title: 'B', number: 3, end: 5 },
      { level: 3, text: 'c', title: 'c', number: 4, end: 5 },
      { level: 2, text: 'D', title: 'D', number: 6, end: 9 },
    ])
  })

  it.each(['# a\r\n\r\n```\r\nb\r\n```\r\nc', '\ufeffa\nb\n', '\n\n', ''])(
    'has offsets that lead back to the text of %j',
    (text) => {
      const lines = [...scanMarkdown(text)]
      expect(lines.map(({ start, end }) => text.slice(start, end)).join('')).toBe(text.replace('\ufeff', ''))
      for (const { raw, start } of lines) expect(text.startsWith(raw, start)).toBe(true)
    },
  )

  it.each([
    ['backticks', '`'.repeat(400_000)],
    ['runs of backticks', '` `` ``` '.repeat(45_000)],
    ['fences', '```\n~~~\n'.repeat(50_000)],
    ['fences of growing length', Array.from({ length: 880 }, (_, n) => '`'.repeat(n + 3)).join('\n')],
    ['comments', '<!-- '.repeat(80_000)],
    ['comments that end', '<!-- --> '.repeat(45_000)],
    ['comments over lines', '<!--\n-->\n'.repeat(45_000)],
    ['quotation marks', '"\'('.repeat(133_000)],
    ['lines of quotation marks', `${'"\''.repeat(2_000)}\n`.repeat(100)],
    ['headings', '# a\n'.repeat(100_000)],
    ['hashes', `# ${' #'.repeat(200_000)}x`],
    ['underlines', 'a\n-\n'.repeat(100_000)],
    ['dashes', `${'- '.repeat(200_000)}x`],
    ['spaces', `${' '.repeat(400_000)}x`],
    ['carriage returns', '\r'.repeat(400_000)],
    ['front matter without an end', `---\n${'--\n'.repeat(130_000)}`],
    ['line ends', '\n'.repeat(400_000)],
  ])('takes little time for 400 kB of %s', (_, text) => {
    const started = performance.now()
    parseMarkdown(text)
    // Some 100 ms where nothing else runs.
    expect(performance.now() - started).toBeLessThan(3_000)
  })
})
