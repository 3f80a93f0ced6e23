type Looked = {
  readonly route?: string | null
  readonly model?: string | null
  readonly passes?: number
  readonly verification?: string | null
  readonly repository?: boolean
  /** Those who have read it as well. */
  readonly readers?: readonly string[]
}

/** `codex (gpt-5.2) and claude, 3 passes, verified, with the repository`. Older records say less. */
export function describeReviewer({ route, model, passes, verification, repository, readers = [] }: Looked): string {
  const isVerified = verification === 'passed'
  return [
    listOf([`${route ?? 'unknown'}${model ? ` (${model})` : ''}`, ...readers]),
    ...(passes === undefined ? [] : [passes === 1 ? 'a single pass' : `${passes} passes`]),
    ...(isVerified ? ['verified'] : passes === undefined && verification == null ? [] : ['not verified']),
    ...(repository === undefined ? [] : [repository ? 'with the repository' : 'without the repository']),
  ].join(', ')
}

const listOf = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`

/** Who has concluded something beside the row that led. */
export const otherReaders = ({
  route,
  readers = [],
}: {
  readonly route: string
  readonly readers?: readonly { readonly name: string; readonly verdict: string | null }[]
}): readonly string[] => readers.flatMap(({ name, verdict }) => (verdict === null || name === route ? [] : [name]))

/** `, found by claude and codex`; '' where a single reader has looked. */
export const foundBy = ({ sources = [] }: { readonly sources?: readonly string[] }): string =>
  sources.length === 0 ? '' : `, found by ${listOf(sources)}`

/** `$0.04`, or `less than $0.01`. */
export const formatDollars = (dollars: number): string =>
  dollars > 0 && dollars < 0.01 ? 'less than $0.01' : `$${dollars.toFixed(2)}`
