type Looked = {
  readonly route?: string | null
  readonly model?: string | null
  readonly passes?: number
  readonly verification?: string | null
  readonly repository?: boolean
}

/** `codex (gpt-5.2), 3 passes, verified, with the repository`. Older records say less. */
export function describeReviewer({ route, model, passes, verification, repository }: Looked): string {
  const isVerified = verification === 'passed'
  return [
    `${route ?? 'unknown'}${model ? ` (${model})` : ''}`,
    ...(passes === undefined ? [] : [passes === 1 ? 'a single pass' : `${passes} passes`]),
    ...(isVerified ? ['verified'] : passes === undefined && verification == null ? [] : ['not verified']),
    ...(repository === undefined ? [] : [repository ? 'with the repository' : 'without the repository']),
  ].join(', ')
}
