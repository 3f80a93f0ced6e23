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

/** Where it failed there is nothing to go on with: what was not looked through is not handed back. */
type Redaction =
  | { readonly kind: 'redacted'; readonly text: string; readonly count: number; readonly kinds: readonly string[] }
  | RedactionFailed

type ValueRedaction<T> =
  | { readonly kind: 'redacted'; readonly value: T; readonly count: number; readonly kinds: readonly string[] }
  | RedactionFailed

type RedactionFailed = { readonly kind: 'failed'; readonly why: string }

type Redactor = {
  /** A JSON document by value, anything else by pattern. */
  readonly text: (text: string) => Redaction
  /** Plain data, as JSON can hold it. */
  readonly value: <T>(value: T) => ValueRedaction<T>
}

/** With the patterns of `review.redaction.patterns`. One that is unusable makes each redaction fail. */
export function makeRedactor(customPatterns: readonly string[]): Redactor {
  const custom = compilePatterns(customPatterns)
  return {
    text: (text) => {
      const outcome = attempt(() => redactDocument(text, custom))
      if (outcome.kind === 'failed') return outcome
      const { clean, count, kinds } = outcome
      return { kind: 'redacted', text: clean, count, kinds }
    },
    value: <T>(value: T) => {
      const isText = typeof value === 'string'
      const outcome = attempt(() => redactDocument(isText ? value : (JSON.stringify(value) ?? ''), custom))
      if (outcome.kind === 'failed') return outcome
      const { clean, count, kinds } = outcome
      return {
        kind: 'redacted',
        value: count === 0 ? value : ((isText ? clean : JSON.parse(clean)) as T),
        count,
        kinds,
      }
    },
  }
}

type RedactionOutcome = { kind: 'redacted'; clean: string; count: number; kinds: readonly string[] } | RedactionFailed

function attempt(redact: () => RedactedText): RedactionOutcome {
  try {
    const { text, kinds } = redact()
    return { kind: 'redacted', clean: text, count: kinds.length, kinds: [...new Set(kinds)].sort() }
  } catch (error) {
    return { kind: 'failed', why: error instanceof Error ? error.message : String(error) }
  }
}

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

/** Documents within documents are followed this far; below that a document is text. */
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

/** Again and again, like the built-in forms: a mark may stand where an expression expects something. */
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
