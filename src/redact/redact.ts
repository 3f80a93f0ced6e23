import {
  type Budget,
  type CustomPatterns,
  compilePatterns,
  findCustom,
  maskRanges,
  newBudget,
  type RedactedText,
  redactPlainText,
} from './finders.ts'
import { isJsonDocument, redactJson } from './json.ts'
import { looksSecret } from './looks-secret.ts'

type Redaction =
  | { readonly kind: 'redacted'; readonly text: string; readonly count: number; readonly kinds: readonly string[] }
  /** Nothing is returned, because unredacted text must not be used. */
  | { readonly kind: 'failed'; readonly why: string }

/** With `review.redaction.patterns`; an invalid pattern makes each redaction fail. */
export function makeRedactor(customPatterns: readonly string[]): { readonly text: (text: string) => Redaction } {
  const custom = compilePatterns(customPatterns)
  return {
    text: (text) => {
      try {
        const { text: clean, kinds } = redactDocument(text, custom)
        return { kind: 'redacted', text: clean, count: kinds.length, kinds: [...new Set(kinds)].sort() }
      } catch (error) {
        return { kind: 'failed', why: error instanceof Error ? error.message : String(error) }
      }
    },
  }
}

/** A JSON document by value, anything else by pattern. */
function redactDocument(text: string, custom: CustomPatterns): RedactedText {
  switch (custom.kind) {
    case 'invalid':
      throw new Error(custom.why)
    case 'none':
      return looksSecret(text) ? redactOne(text, { forms: [], budget: newBudget(), depth: 0 }) : { text, kinds: [] }
    case 'compiled':
      return redactOne(text, { forms: custom.forms, budget: newBudget(), depth: 0 })
  }
}

type Task = { readonly forms: readonly RegExp[]; readonly budget: Budget; readonly depth: number }

/** Documents within documents are parsed to this depth; below, a document is text. */
const maxDepth = 4

function redactOne(text: string, task: Task): RedactedText {
  if (task.depth < maxDepth && isJsonDocument(text))
    return redactJson(text, (texts) => redactTexts(texts, { ...task, depth: task.depth + 1 }))
  return redactTexts([text], { ...task, depth: maxDepth })[0] ?? { text, kinds: [] }
}

function redactTexts(texts: readonly string[], task: Task): readonly RedactedText[] {
  const isDocument = texts.map((text) => task.depth < maxDepth && isWorthParsing(text, task) && isJsonDocument(text))
  const clean = texts.map((text, index) => (isDocument[index] ? redactOne(text, task) : redactPlainText(text)))
  if (task.forms.length === 0) return clean
  const plain = clean.filter((_, index) => !isDocument[index])
  const done = applyCustom(plain, task)
  let next = 0
  return clean.map((blanked, index) => (isDocument[index] ? blanked : (done[next++] ?? blanked)))
}

const isWorthParsing = (text: string, { forms }: Task): boolean =>
  /^\s*[[{]/.test(text) && (forms.length > 0 || looksSecret(text))

/** Repeated until nothing changes, like the built-in forms: a mark may complete a match. */
function applyCustom(texts: readonly RedactedText[], { forms, budget }: Task): readonly RedactedText[] {
  const current = [...texts]
  for (let round = 0; round < 20; round += 1) {
    let changed = false
    for (const [index, found] of findCustom(
      current.map(({ text }) => text),
      forms,
      budget,
    )) {
      const before = current[index]
      if (before === undefined) continue
      const blanked = maskRanges(before.text, found)
      if (blanked.text === before.text) continue
      const after = redactPlainText(blanked.text)
      current[index] = { text: after.text, kinds: [...before.kinds, ...blanked.kinds, ...after.kinds] }
      changed = true
    }
    if (!changed) return current
  }
  throw new Error('The patterns in review.redaction.patterns find something new each time that they are applied.')
}
