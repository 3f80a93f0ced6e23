/**
 * Text of the reviewer as escaped Markdown: no HTML, links, images, headings, lists or rules, nothing that ends a quote.
 * A code span within a line stays one. Blank lines are left out.
 */
export const inertMarkdown = (text: string): readonly string[] =>
  text
    .split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/)
    .map((line) => line.replace(/\t/g, '  ').replace(invisible, '\ufffd').trimEnd())
    .filter((line) => line.trim() !== '')
    // An indented first line would be a code block.
    .map((line, index) => (index === 0 ? line.trimStart() : line))
    .map((line) => escapeStart(escapeInline(line)))

/** A single line, for a heading or a list item. */
export const inertLine = (text: string): string =>
  inertMarkdown(text)
    .map((line) => line.trim())
    .join(' ')

const invisible = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g

function escapeInline(line: string): string {
  if (line.includes('``')) return escapeMarks(line)
  const parts = line.split(/(`[^`]+`)/)
  return parts.map((part, index) => (index % 2 === 1 ? part : escapeMarks(part))).join('')
}

const escapeMarks = (text: string): string => text.replace(/\\(?=[!-/:-@[-`{-~]|$)|[`<[]|&(?=[#\w])/g, '\\$&')

/** The marks that begin a heading, a list, a rule, a table or a definition. */
const escapeStart = (line: string): string =>
  /^\s*[*_](?:\s|$)|^[\s*_]+$/.test(line)
    ? line.replace(/[*_]/, '\\$&')
    : line.replace(/^(\s*)([#>+=~|:-])/, '$1\\$2').replace(/^(\s*\d{1,9})([.)])/, '$1\\$2')
