import { describe, expect, it } from 'vitest'
import { inertLine, inertMarkdown } from '../../../src/plan/annotate.ts'

describe('inertMarkdown', () => {
  it.each<[string, string, readonly string[]]>([
    ['plain words', 'Plain words, 2 * 3 = 6 & so on: a -> b.', ['Plain words, 2 * 3 = 6 & so on: a -> b.']],
    ['lines', 'one\r\ntwo\n\n \nthree\u2028four', ['one', 'two', 'three', 'four']],
    ['HTML', 'a <img src=x> b', ['a \\<img src=x> b']],
    ['a link and an image', '[a](b) ![c](d)', ['\\[a](b) !\\[c](d)']],
    ['an entity', '&lt;b&gt; &#60; a && b', ['\\&lt;b\\&gt; \\&#60; a && b']],
    ['a code span', 'call `a<b>[0]` now', ['call `a<b>[0]` now']],
    ['half a code span', 'call `a<b> now', ['call \\`a\\<b> now']],
    ['more than one backtick', '`` a<b> `` and `c`', ['\\`\\` a\\<b> \\`\\` and \\`c\\`']],
    ['a backslash before a code span', '\\`a<b>`', ['\\\\`a<b>`']],
    ['a backslash at the end', 'C:\\dir\\', ['C:\\dir\\\\']],
    ['a heading', 'a\n  # Big', ['a', '  \\# Big']],
    ['indented code', '    a\n    b', ['a', '    b']],
    ['a quote', '> said', ['\\> said']],
    ['items', '- a\n* b\n+ c\n1. d\n2) e', ['\\- a', '\\* b', '\\+ c', '1\\. d', '2\\) e']],
    ['rules', '---\n***\n* * *\n___\n===', ['\\---', '\\***', '\\* * *', '\\___', '\\===']],
    ['emphasis at the start', '**Never** do it', ['**Never** do it']],
    ['a fence', '```sh\nrm\n```', ['\\`\\`\\`sh', 'rm', '\\`\\`\\`']],
    ['signs that are not seen', 'a\u202eb\u001b[0mc\u0000', ['a\ufffdb\ufffd\\[0mc\ufffd']],
    ['nothing', ' \n', []],
  ])('%s', (_, text, expected) => {
    expect(inertMarkdown(text)).toEqual(expected)
  })

  it('can be a single line', () => {
    expect(inertLine(' a\n  # b \n')).toBe('a \\# b')
  })
})

it.each(['*', '_', '`', '\\', '<', '&', '1', ' ', '# ', '\n', '\t'])('a great deal of %j takes no time', (sign) => {
  expect(
    inertMarkdown(`${sign.repeat(300_000)}x`)
      .at(-1)
      ?.endsWith('x'),
  ).toBe(true)
})
