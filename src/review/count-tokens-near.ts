import { estimateTokens } from './tokens/estimate-tokens.ts'
import type { Tokenizer } from './tokens/tokenizer.ts'

/** The estimate is at most a quarter off; only near one of the limits is it worth loading the tokenizer, which takes time. */
export async function countTokensNear(
  text: string,
  limits: readonly number[],
  tokenizer: () => Promise<Tokenizer>,
): Promise<number> {
  const estimate = estimateTokens(text)
  const isNear = limits.some((limit) => estimate > limit * 0.6 && estimate < limit * 1.7)
  return isNear ? (await tokenizer()).count(text) : estimate
}
