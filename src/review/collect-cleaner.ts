import type { ReviewDependencies } from './review-request.ts'

/** Blanks the secrets of many parts; `failed` says why one could not be, and then none may be used. */
export function collectCleaner(redact: ReviewDependencies['redact']): {
  readonly clean: (text: string) => string
  readonly failed: () => string | null
} {
  let why: string | null = null
  return {
    clean: (text) => {
      const redaction = redact(text)
      if (redaction.kind === 'redacted') return redaction.text
      why ??= redaction.why
      return ''
    },
    failed: () => why,
  }
}
