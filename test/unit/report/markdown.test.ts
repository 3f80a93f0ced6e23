import { expect, it } from 'vitest'
import { renderMarkdown } from '../../../src/report/markdown.ts'
import { growth } from '../../support/growth.ts'

const rendered = (text: string): string => renderMarkdown(text).html.replace(/^<div class="plan">|<\/div>$/g, '')
const item = (text: string, mark = '•', depth = 0): string =>
  `<li class="depth-${depth}" dir="auto"><span class="item-mark">${mark}</span> <span>${text}</span></li>`

it.each<[string, string, string]>([
  ['headings', '# A\n## B ##\n### C\n', '<h3>A</h3><h4>B</h4><h5>C</h5>'],
  ['an underlined heading', 'A\n===\n\nx\n', '<h3>A</h3><p dir="auto">x</p>'],
  ['paragraphs', 'one\ntwo\n\nthree', '<p dir="auto">one\ntwo</p><p dir="auto">three</p>'],
  ['marks', '**b** and `<c>`', '<p dir="auto"><strong>b</strong> and <code>&lt;c&gt;</code></p>'],
  ['a list', '- a\n  more\n- b\n', `<ul>${item('a\nmore')}${item('b')}</ul>`],
  ['a list in a list', '1. a\n   - b\n2. c', `<ul>${item('a', '1.')}${item('b', '•', 1)}${item('c', '2.')}</ul>`],
  ['boxes', '- [ ] a\n- [x] b', `<ul>${item('a', '☐')}${item('b', '☑')}</ul>`],
  ['code', '```ts\na\n\n# b\n```\nc', '<pre><code>a\n\n# b</code></pre><p dir="auto">c</p>'],
  ['code without an end', '~~~\na', '<pre><code>a</code></pre>'],
  ['a table', '| a | b |\n|---|---|\n', '<pre><code>| a | b |\n|---|---|</code></pre>'],
  ['a quotation', '> a\n> b', '<blockquote dir="auto">a\nb</blockquote>'],
  ['a rule', 'a\n\n---\n\nb', '<p dir="auto">a</p><p dir="auto">b</p>'],
  ['a link as it stands', '[a](https://b.example)', '<p dir="auto">[a](https://b.example)</p>'],
  ['markup as text', '<b onclick="x">a</b>', '<p dir="auto">&lt;b onclick=&quot;x&quot;&gt;a&lt;/b&gt;</p>'],
  ['a comment, which nobody may hide behind', '<!-- rm -rf / -->\n', '<pre><code>&lt;!-- rm -rf / --&gt;</code></pre>'],
  ['a header', '---\na: b\n---\n\nc', '<pre><code>a: b</code></pre><p dir="auto">c</p>'],
  ['nothing', '', ''],
])('renders %s', (_, text, markup) => {
  expect(rendered(text)).toBe(markup)
})

it.each([
  '- [ ] a\n- [x]\n-\n',
  '    code\n\ttab\n',
  '```\n~~~\n',
  '<!-- open\n\n# a',
  '***\n* * *\n**\n',
  '\u202e- a\n> > >\n',
])('leaves no word of %j out', (text) => {
  const shown = rendered(text).replace(/<[^>]*>/g, ' ')
  for (const word of text.match(/\w+/g) ?? []) expect(shown).toMatch(word === 'x' ? /x|☑/ : word)
})

it.each(['x <!-- y\n', '- a\n'])('takes twice as long for twice as many %j', (line) => {
  expect(growth(renderMarkdown, line, 60_000)).toBeLessThan(2.6)
})
