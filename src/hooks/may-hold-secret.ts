/** What a look that costs nothing finds harmless is; the real question takes its patterns milliseconds to be asked. */
const couldHoldSecret =
  /[a-z0-9+]{18}|\b(?:sk|gh[pousr]|glpat|xox\w|npm|hf)[-_]|(?:pass|pwd|secret|token|key|auth|cred|cookie|sess|jwt)[\w.-]*["']?\s*[:= ]|bearer|basic|:\/\/\S*@/i

/** For what a hook is about to keep or show, where there is no time to look for the very characters. */
export async function mayHoldSecret(text: string): Promise<boolean> {
  if (!couldHoldSecret.test(text)) return false
  const { looksSecret } = await import('../safety/looks-secret.ts')
  return looksSecret(text)
}
