import { loadBundle } from '../system/load-bundle.ts'

/** For what a hook keeps: a text that may hold a secret is not kept at all. */
export async function mayHoldSecret(text: string): Promise<boolean> {
  if (!secretHint.test(text)) return false
  try {
    const { reviews } = await loadBundle<{ reviews: typeof import('../redact/redact.ts') }>('reviews')
    const redaction = reviews.makeRedactor([]).text(text)
    return redaction.kind === 'failed' || redaction.count > 0
  } catch {
    return true
  }
}

export const withheld = '(not kept: it may hold a secret)'

/** Cheap, and wider than what redaction finds, which is loaded only then. */
const secretHint = new RegExp(
  '[\\w+=-]{15}|REDACTED|PRIVATE|bearer|basic|login|mysql|redis-cli|\\s(?:-u|--user|--proxy-user)[ \\t=]|:\\S*@|' +
    '(?:pass|pwd|secret|token|key|auth|cred|cookie|sess|jwt|mnemonic|sid|connection|_pat|_dsn)\\S*\\s*[,"\'`(:=> |?!+]',
  'i',
)
