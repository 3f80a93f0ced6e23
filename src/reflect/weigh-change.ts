import { isSecurityPath } from '../review/complexity/is-security-path.ts'
import type { Effort } from '../schemas/backend.ts'
import type { ChangeSize } from './read-change.ts'

export type FileKind = 'security' | 'data' | 'tests' | 'config' | 'ui' | 'docs' | 'other'

export type Weight = {
  readonly model: 'review' | 'fast'
  readonly effort: Effort
  /** Questions for the reviewer, in our words. */
  readonly hints: readonly string[]
}

/** Who looks at a change, and how hard. `path` is seen from the worktree: what lies above it says nothing. */
export function weighChange(path: string, size: ChangeSize): Weight {
  const row = weights[kindOfFile(path)]
  const hints = [...row.hints, ...hintsFor(size)]
  if (isLarge(size)) return { model: 'review', effort: higher[row.effort], hints }
  return { model: isSmall(size) ? row.whenSmall : row.model, effort: row.effort, hints }
}

type Models = {
  /** Set by the user for everything; wins over the weight. */
  readonly override: string | null
  readonly review: string | null
  readonly fast: string | null
}

/** A name for the weight. A fast model is given time to think: it is cheap, and shallow without. */
export function chooseReflectionModel(
  { model: wanted, effort }: Pick<Weight, 'model' | 'effort'>,
  { override, review, fast }: Models,
): { readonly model: string | null; readonly effort: Effort } {
  const model = override ?? (wanted === 'fast' ? (fast ?? review) : review)
  return { model, effort: model !== null && model === fast ? atLeastHigh[effort] : effort }
}

const atLeastHigh: { readonly [effort in Effort]: Effort } = {
  low: 'high',
  medium: 'high',
  high: 'high',
  xhigh: 'xhigh',
}
const higher: { readonly [effort in Effort]: Effort } = { low: 'medium', medium: 'high', high: 'xhigh', xhigh: 'xhigh' }

type Row = Weight & { readonly whenSmall: Weight['model'] }

const weights: { readonly [kind in FileKind]: Row } = {
  security: {
    model: 'review',
    whenSmall: 'review',
    effort: 'xhigh',
    hints: [
      'This file guards something. Who gets in, or learns something, who could not before?',
      'Is anything compared, parsed or trusted before it is checked? Is a secret written, logged or sent?',
    ],
  },
  data: {
    model: 'review',
    whenSmall: 'review',
    effort: 'xhigh',
    hints: [
      'This touches data that exists. What happens to rows that are there already, and how is it taken back?',
      'Does it hold while old and new code run side by side, and if it stops halfway?',
    ],
  },
  config: {
    model: 'review',
    whenSmall: 'review',
    effort: 'high',
    hints: ['This is configuration. Does each key exist in the program that reads it, and what did it rely on before?'],
  },
  tests: {
    model: 'review',
    whenSmall: 'fast',
    effort: 'medium',
    hints: [
      'This is a test. Would it fail if the code were wrong? Is an assertion weaker, skipped or gone that was there before?',
    ],
  },
  ui: {
    model: 'review',
    whenSmall: 'fast',
    effort: 'medium',
    hints: ['People see this. What do they see while it loads, when it fails, when it is empty, without a mouse?'],
  },
  docs: {
    model: 'fast',
    whenSmall: 'fast',
    effort: 'low',
    hints: ['This is a document. Is each command, name and path in it as the code has it?'],
  },
  other: { model: 'review', whenSmall: 'fast', effort: 'high', hints: [] },
}

export function kindOfFile(path: string): FileKind {
  if (isSecurityPath(path)) return 'security'
  return kinds.find(([pattern]) => pattern.test(path))?.[1] ?? 'other'
}

/** From the top; a migration's test is a test of data, and looked at as data. */
const kinds: readonly (readonly [RegExp, FileKind])[] = [
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
  if (linesBefore >= 20 && linesAfter < linesBefore / 2)
    return [`${linesBefore} lines become ${linesAfter}. Is anything gone that is still called, tested or promised?`]
  if (linesBefore >= 5 && linesAfter >= 60 && linesAfter > linesBefore * 3)
    return [
      `${linesBefore} lines become ${linesAfter}. Is all of it asked for, and does any of it exist elsewhere already?`,
    ]
  return []
}
