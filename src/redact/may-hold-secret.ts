/** A hook has no time to redact, so a text that may hold a secret is not kept at all. */
export async function mayHoldSecret(text: string): Promise<boolean> {
  if (!secretHint.test(text)) return false
  const { looksSecret } = await import('./looks-secret.ts')
  return looksSecret(text)
}

export const withheld = '(not kept: it may hold a secret)'

/** Cheap, and wider than the patterns of `looksSecret`, which take milliseconds to compile. */
const secretHint =
  /[a-z0-9+]{18}|\b(?:sk|gh[pousr]|glpat|xox\w|npm|hf)[-_]|(?:pass|pwd|secret|token|key|auth|cred|cookie|sess|jwt)[\w.-]*["']?\s*[:= ]|bearer|basic|:\/\/\S*@/i
