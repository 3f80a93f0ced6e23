import { asList, asRecord, textOrNull, wholeOrZero } from './read-values.ts'

export type Input = { readonly [field: string]: unknown }

/** One change of a file, as a tool was told to make it. */
export type Change = {
  readonly tool: string
  readonly path: string
  readonly content: string | null
  readonly oldString: string | null
  readonly newString: string | null
  /** What a reviewer is shown: hunks with line numbers where the client gave them. */
  readonly shown: string
  readonly size: ChangeSize
}

/** Lines and characters that the change takes away and puts in their place. */
export type ChangeSize = {
  readonly linesBefore: number
  readonly linesAfter: number
  readonly charsBefore: number
  readonly charsAfter: number
}

/** null when no file is named. */
export function readChange(tool: string, input: Input, response: unknown): Change | null {
  const path = pathIn(input)
  if (path === null) return null
  const told = { tool, path, ...textsOf(tool, input) }
  const hunks = hunksIn(response)
  const removed = hunks === null ? (told.oldString ?? originalIn(response)) : linesWith('-', hunks)
  const added = hunks === null ? (told.newString ?? told.content ?? '') : linesWith('+', hunks)
  return { ...told, shown: hunks ?? shownWithout(told), size: sizeOf(removed, added) }
}

export function pathIn(input: Input): string | null {
  for (const field of pathFields) {
    const path = textOrNull(input[field])
    if (path !== null && !/[\0\r\n]/.test(path)) return path
  }
  return null
}

const pathFields = [
  'file_path',
  'notebook_path',
  'filePath',
  'path',
  'relative_path',
  'relativePath',
  'target_file',
  'file',
  'filename',
] as const

type Texts = Pick<Change, 'content' | 'oldString' | 'newString'>

/** All that decides what the tool does: two calls with the same texts, tool and path make the same change. */
function textsOf(tool: string, input: Input): Texts {
  if (tool === 'Write') return { content: asText(input.content), oldString: null, newString: null }
  if (tool === 'Edit')
    return {
      content: input.replace_all === true ? 'replace all' : null,
      oldString: asText(input.old_string),
      newString: asText(input.new_string),
    }
  return { content: JSON.stringify(input, null, 1), oldString: null, newString: null }
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : '')

function hunksIn(response: unknown): string | null {
  const hunks = asList(asRecord(response).structuredPatch).map(asRecord)
  if (hunks.length === 0) return null
  return hunks
    .map(({ oldStart, oldLines, newStart, newLines, lines }) =>
      [
        `@@ -${wholeOrZero(oldStart)},${wholeOrZero(oldLines)} +${wholeOrZero(newStart)},${wholeOrZero(newLines)} @@`,
        ...asList(lines).map((line) => (typeof line === 'string' ? line : JSON.stringify(line))),
      ].join('\n'),
    )
    .join('\n')
}

const originalIn = (response: unknown): string => {
  const { originalFile, original_file } = asRecord(response)
  return textOrNull(originalFile) ?? textOrNull(original_file) ?? ''
}

const linesWith = (sign: string, hunks: string): string =>
  hunks
    .split('\n')
    .filter((line) => line.startsWith(sign))
    .map((line) => line.slice(1))
    .join('\n')

const shownWithout = ({ content, oldString, newString }: Texts): string =>
  oldString === null && newString === null
    ? (content ?? '')
    : [...signed('-', oldString ?? ''), ...signed('+', newString ?? '')].join('\n')

const signed = (sign: string, text: string): string[] =>
  text === '' ? [] : text.split(/\r?\n/).map((line) => `${sign}${line}`)

const sizeOf = (before: string, after: string): ChangeSize => ({
  linesBefore: linesIn(before),
  linesAfter: linesIn(after),
  charsBefore: before.length,
  charsAfter: after.length,
})

const linesIn = (text: string): number => (text === '' ? 0 : text.replace(/\n$/, '').split('\n').length)
