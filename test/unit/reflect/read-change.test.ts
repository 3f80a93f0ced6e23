import { describe, expect, it } from 'vitest'
import { readChange } from '../../../src/reflect/subject.ts'

const file_path = '/r/a.ts'
const patch = {
  structuredPatch: [{ oldStart: 3, oldLines: 2, newStart: 3, newLines: 2, lines: ['-old', '+new', ' same'] }],
}

const rows = [
  {
    what: 'a new file',
    change: readChange('Write', { file_path, content: 'a\nb\n' }, { type: 'create', structuredPatch: [] }),
    expected: { content: 'a\nb\n', oldString: null, newString: null, shown: 'a\nb\n' },
    size: { linesBefore: 0, linesAfter: 2, charsBefore: 0, charsAfter: 4 },
  },
  {
    what: 'a file that is written anew, without hunks',
    change: readChange('Write', { file_path, content: 'b' }, { originalFile: 'a\na\na\n' }),
    expected: { content: 'b', oldString: null, newString: null, shown: 'b' },
    size: { linesBefore: 3, linesAfter: 1, charsBefore: 6, charsAfter: 1 },
  },
  {
    what: 'an edit, by the hunks that the client gives',
    change: readChange('Edit', { file_path, old_string: 'old', new_string: 'new', replace_all: false }, patch),
    expected: { content: null, oldString: 'old', newString: 'new', shown: '@@ -3,2 +3,2 @@\n-old\n+new\n same' },
    size: { linesBefore: 1, linesAfter: 1, charsBefore: 3, charsAfter: 3 },
  },
  {
    what: 'an edit of all places, without hunks',
    change: readChange('Edit', { file_path, old_string: 'a\nb', new_string: '', replace_all: true }, null),
    expected: { content: 'replace all', oldString: 'a\nb', newString: '', shown: '-a\n-b' },
    size: { linesBefore: 2, linesAfter: 0, charsBefore: 3, charsAfter: 0 },
  },
  {
    what: 'an edit whose texts are missing, and a response that is garbage',
    change: readChange('Edit', { file_path }, { structuredPatch: 'x' }),
    expected: { content: null, oldString: '', newString: '', shown: '' },
    size: { linesBefore: 0, linesAfter: 0, charsBefore: 0, charsAfter: 0 },
  },
]

describe('readChange', () => {
  it.each(rows)('$what', ({ change, expected, size }) => {
    expect(change).toMatchObject({ path: file_path, ...expected, size })
  })

  it('of any other tool, everything that it was told counts', () => {
    const insert = (line: number) => readChange('mcp__fs__insert', { path: '/r/a', line, text: 'x' }, null)?.content
    expect(insert(1)).not.toBe(insert(2))
    const cell = (cell_id: string) =>
      readChange('NotebookEdit', { notebook_path: '/r/a.ipynb', cell_id, new_source: 'x' }, null)?.content
    expect(cell('one')).not.toBe(cell('two'))
  })

  it.each([{}, { path: '' }, { path: 7 }, { path: 'a\0b' }, { path: 'a\nb' }, { file_path: null }])(
    'names no file: %j',
    (input) => {
      expect(readChange('mcp__fs__write', input, null)).toBeNull()
    },
  )
})
