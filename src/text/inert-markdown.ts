/**
 * Text of the reviewer as lines of Markdown that mean nothing but their words: no HTML, no links or images, no headings,
 * lists or rules, nothing that ends a quote. A code span within a line stays one. Blank lines are left out.
 */
export const inertMarkdown = (text: string): readonly string[] =>
  text
    .split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/)
    .map((line) => line.replace(/\t/g, '  ').replace(invisible, '\ufffd').trimEnd())
    .filter((line) => line.trim() !== '')
    // Further lines of a paragraph may be indented; a first one would be a code block.
    .map((line, index) => (index === 0 ? line.trimStart() : line))
    .map((line) => withoutStart(withoutInline(line)))

/** The same as a single line, for a heading or an item of a list. */
export const inertLine = (text: string): string =>
  inertMarkdown(text)
    .map((line) => line.trim())
    .join(' ')

const invisible = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g

function withoutInline(line: string): string {
  if (line.includes('``')) return escaped(line)
  const parts = line.split(/(`[^`]+`)/)
  return parts.map((part, index) => (index % 2 === 1 ? part : escaped(part))).join('')
}

const escaped = (text: string): string => text.replace(/\\(?=[!-/:-@[-`{-~]|$)|[`<[]|&(?=[#\w])/g, '\\$&')

/** What makes a heading, a list, a rule, a table or a definition of the line that begins with it. */
const withoutStart = (line: string): string =>
  /^\s*[*_](?:\s|$)|^[\s*_]+$/.test(line)
    ? line.replace(/[*_]/, '\\$&')
    : line.replace(/^(\s*)([#>+=~|:-])/, '$1\\$2').replace(/^(\s*\d{1,9})([.)])/, '$1\\$2')
