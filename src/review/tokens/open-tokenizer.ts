import { estimateTokens } from './estimate-tokens.ts'
import type { Tokenizer } from './tokenizer.ts'

/**
 * The exact tokenizer, or the estimate where it cannot be loaded. `load` imports `dist/tokenizer.mjs`, whose place
 * depends on where the program runs; call it only for a text that may exceed its budget.
 */
export async function openTokenizer(
  load: () => Promise<{ readonly countTokens: (text: string) => number }>,
): Promise<Tokenizer> {
  try {
    const { countTokens } = await load()
    // A file that is damaged or is another one shows here, and not in the middle of a review.
    if (countTokens('hello world') === 2) return { tier: 'exact', count: countTokens }
  } catch {}
  return { tier: 'words', count: estimateTokens }
}
