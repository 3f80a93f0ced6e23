export type ApiKey =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'unusable'; readonly why: string; readonly nextStep: string }

/** What is wrong with a key is said without quoting any of it. */
export function readApiKey(value: string | undefined): ApiKey {
  if (value === undefined || value.trim() === '')
    return {
      kind: 'unusable',
      why: 'OPENAI_API_KEY is not set.',
      nextStep: 'Set OPENAI_API_KEY in the environment that Claude Code is started from, or use another reviewer.',
    }
  const flaw = flaws.find(({ pattern }) => pattern.test(value))
  if (flaw === undefined) return { kind: 'key', key: value }
  return {
    kind: 'unusable',
    why: `OPENAI_API_KEY cannot be sent: it contains ${flaw.name}.`,
    nextStep: 'Copy the key again, as one line and without quotation marks, and set OPENAI_API_KEY to it.',
  }
}

const flaws = [
  { pattern: /[\r\n]/, name: 'a line break' },
  { pattern: /[\t ]/, name: 'a space' },
  { pattern: /[^\x21-\x7e]/, name: 'a character that is not plain ASCII' },
] as const
