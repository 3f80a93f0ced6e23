import type { AnsweredFinding } from '../../schemas/review.ts'

export type ChecklistFinding = AnsweredFinding & { readonly id: null }

export const finding = (
  severity: ChecklistFinding['severity'],
  section: string,
  { problem, evidence, fix }: { problem: string; evidence: string; fix: string },
): ChecklistFinding => ({ id: null, severity, section, problem, evidence, fix })

export const atLine = (number: number, raw: string): string => `Line ${number}: ${quote(raw)}`

const longest = 120

/** Enough of a line to know it again. */
export function quote(raw: string): string {
  const text = raw
    .slice(0, 400)
    .replace(/[^\P{C}\t]/gu, '')
    .replace(/\s+/g, ' ')
    .trim()
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text
}

/** The first of what was found, and how many more there are, so that a list stays readable. */
export function firstOf<T>(found: readonly T[], most: number): { shown: readonly T[]; more: readonly T[] } {
  return found.length <= most + 1
    ? { shown: found, more: [] }
    : { shown: found.slice(0, most), more: found.slice(most) }
}

/** Whether a path cannot well be a package, a branch, a field or the name of a product. */
export function looksLikeFile(pattern: string, isThere: (pattern: string) => boolean): boolean {
  const [first = '', ...others] = pattern.split('/')
  const ending = /\.([A-Za-z][A-Za-z0-9]{0,9})$/.exec(pattern)?.[1]?.toLowerCase()
  if (others.length === 0) return ending !== undefined && endings.has(ending) && !products.has(pattern.toLowerCase())
  if (/^[\w-]+\.(?:com|org|net|io|dev|app)$/.test(first)) return false
  return pattern.endsWith('/') || ending !== undefined || isThere(first)
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

const endings = words(
  'ts tsx mts cts js jsx mjs cjs json yaml yml toml ini md mdx txt css scss html htm vue svelte py go rs java kt kts ' +
    'rb php cs cpp c h swift sh sql xml lock proto graphql tf',
)
const products = words(
  'node.js next.js vue.js nuxt.js express.js react.js ember.js alpine.js backbone.js electron.js three.js d3.js ' +
    'chart.js moment.js discord.js',
)
