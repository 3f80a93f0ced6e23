import { parseRecord } from '../../text/json.ts'

/**
 * An answer without the thoughts that some servers leave in it; null: it ends in them. What a model has considered must
 * never count as its verdict, so that where a text has several closing tags all up to the last one goes, unless what
 * follows the first is one whole JSON object, which may quote them. DeepSeek's templates leave out the opening tag.
 */
export function withoutThoughts(text: string): string | null {
  if (isObject(text)) return text
  const ends = [...text.matchAll(closingTag)].map(({ index, 0: tag }) => index + tag.length)
  const [first, last] = [ends[0], ends.at(-1)]
  if (first === undefined || last === undefined) return openingTag.test(text) ? null : text
  const afterFirst = text.slice(first)
  if (isObject(afterFirst)) return afterFirst
  const rest = text.slice(last)
  return openingTag.test(rest) ? null : rest
}

/** One in backticks is spoken of. */
const closingTag = /(?<!`)(?:<\/think(?:ing)?>|\[\/think\])/gi
const openingTag = /^[ \t]*(?:<think(?:ing)?>|\[think\])/im

function isObject(text: string): boolean {
  const whole = text.trim()
  return parseRecord(/^```\w*\n([\s\S]*)\n```$/.exec(whole)?.[1] ?? whole) !== null
}
