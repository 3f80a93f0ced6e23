import type { FailureClass, Usage } from '../../schemas/backend.ts'
import type { ApiError } from './parse-api-error.ts'

/** What a reply with status 200 comes to. */
export type Reading =
  | { readonly kind: 'text'; readonly text: string; readonly model: string | null; readonly usage: Usage | null }
  | { readonly kind: 'unusable'; readonly failure: FailureClass; readonly why: string; readonly said: string }
  /** It is an error all the same. */
  | { readonly kind: 'error'; readonly error: ApiError }

export const unusable = (failure: FailureClass, why: string, said = ''): Reading => ({
  kind: 'unusable',
  failure,
  why,
  said,
})

export const countOf = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0
