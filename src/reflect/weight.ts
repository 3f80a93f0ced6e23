/** Which model reviews a subject, with what effort, and what else it is asked. */
import { isSecurityPath } from '../review/complexity.ts'
import type { Effort } from '../schemas/review.ts'
import type { ReflectionKind } from './prompts.ts'
import type { ChangeSize, ReflectionSubject } from './subject.ts'

export type Weight = {
  readonly model: 'review' | 'fast'
  readonly effort: Effort
  /** plan-gate's own questions for the reviewer. */
  readonly hints?: readonly string[]
}

export const weightOf = ({ kind, about, size }: ReflectionSubject): Weight =>
  size === undefined ? (weights[kind] ?? { model: 'review', effort: 'high' }) : weighChange(about, size)

const weights: { readonly [kind in ReflectionKind]?: Weight } = {
  thinking: { model: 'fast', effort: 'high' },
  compaction: { model: 'review', effort: 'medium' },
}

/** `path` is relative to the worktree. */
export function weighChange(path: string, size: ChangeSize): Required<Weight> {
  const [model, whenSmall, effort, ...questions] = fileWeights[kindOfFile(path)]
  const hints = [...questions, ...hintsFor(size)]
  if (isLarge(size)) return { model: 'review', effort: higher[effort], hints }
  return { model: isSmall(size) ? whenSmall : model, effort, hints }
}

type Models = {
  /** Set by the user for every call; wins over the weight. */
  readonly override: string | null
  readonly review: string | null
  readonly fast: string | null
}

/** A fast model is asked with high effort: it is cheap, and shallow without. */
export function chooseReflectionModel(
  { model: wanted, effort }: Weight,
  { override, review, fast }: Models,
): { readonly model: string | null; readonly effort: Effort } {
  const model = override ?? (wanted === 'fast' ? (fast ?? review) : review)
  return { model, effort: model !== null && model === fast && effort !== 'xhigh' ? 'high' : effort }
}

const higher: { readonly [effort in Effort]: Effort } = { low: 'medium', medium: 'high', high: 'xhigh', xhigh: 'xhigh' }

export type FileKind = 'security' | 'data' | 'tests' | 'config' | 'ui' | 'docs' | 'other'

/** The model, the model for a small change, the effort, and the questions. */
type FileWeight = readonly [Weight['model'], Weight['model'], Effort, ...string[]]

const fileWeights: { readonly [kind in FileKind]: FileWeight } = {
  security: [
    'review',
    'review',
    'xhigh',
    'This file guards something. Who gets in, or learns something, who could not before?',
    'Is anything compared, parsed or trusted before it is checked? Is a secret written, logged or sent?',
  ],
  data: [
    'review',
    'review',
    'xhigh',
    'This touches data that exists. What happens to rows that are there already, and how is it taken back?',
    'Does it hold while old and new code run side by side, and if it stops halfway?',
  ],
  config: [
    'review',
    'review',
    'high',
    'This is configuration. Does each key exist in the program that reads it, and what did it rely on before?',
  ],
  tests: [
    'review',
    'fast',
    'medium',
    'This is a test. Would it fail if the code were wrong? Is an assertion weaker, skipped or gone that was there before?',
  ],
  ui: [
    'review',
    'fast',
    'medium',
    'People see this. What do they see while it loads, when it fails, when it is empty, without a mouse?',
  ],
  docs: ['fast', 'fast', 'low', 'This is a document. Is each command, name and path in it as the code has it?'],
  other: ['review', 'fast', 'high'],
}

export function kindOfFile(path: string): FileKind {
  if (isSecurityPath(path)) return 'security'
  return fileKinds.find(([pattern]) => pattern.test(path))?.[1] ?? 'other'
}

/** The first match counts; a migration's test is reviewed as data. */
const fileKinds: readonly (readonly [RegExp, FileKind])[] = [
  [/(?:^|\/)(?:migrations?|migrate|schemas?|seeds?)\/|\.(?:sql|prisma|graphql|proto|avsc)$/i, 'data'],
  [/(?:^|\/)(?:models?|entities)\/[^/]+\.\w+$|(?:^|\/)schema\.\w+$/i, 'data'],
  [
    /(?:^|\/)(?:tests?|specs?|__tests__|__mocks__|e2e|cypress)\/|[._-](?:test|spec)s?\.\w+$|(?:^|\/)test_[^/]+\.py$/i,
    'tests',
  ],
  [/(?:^|\/)(?:docs?|documentation)\/|\.(?:md|mdx|rst|adoc|txt)$|(?:^|\/)(?:LICENSE|CHANGELOG|AUTHORS)$/i, 'docs'],
  [/\.(?:tsx|jsx|vue|svelte|astro|css|scss|sass|less|html?|hbs|ejs|svg)$/i, 'ui'],
  [
    /\.(?:json5?|jsonc|ya?ml|toml|ini|cfg|conf|properties|tf|lock|mod|gradle)$|(?:^|\/)(?:\.[^/]+rc|Makefile|[^/]+\.config\.\w+)$/i,
    'config',
  ],
]

/** Characters as well as lines: a line may be a whole minified program. */
const isSmall = (size: ChangeSize): boolean => linesOf(size) <= 10 && charsOf(size) <= 1000
const isLarge = (size: ChangeSize): boolean => linesOf(size) > 300 || charsOf(size) > 20_000
const linesOf = ({ linesBefore, linesAfter }: ChangeSize): number => Math.max(linesBefore, linesAfter)
const charsOf = ({ charsBefore, charsAfter }: ChangeSize): number => Math.max(charsBefore, charsAfter)

function hintsFor({ linesBefore, linesAfter }: ChangeSize): string[] {
  const become = `${linesBefore} lines become ${linesAfter}.`
  if (linesBefore >= 20 && linesAfter < linesBefore / 2)
    return [`${become} Is anything gone that is still called, tested or promised?`]
  if (linesBefore >= 5 && linesAfter >= 60 && linesAfter > linesBefore * 3)
    return [`${become} Is all of it asked for, and does any of it exist elsewhere already?`]
  return []
}
