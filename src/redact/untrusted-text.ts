/** Material under review between two lines with a tag that nobody could have foreseen. What stands there is data. */
export const fence = (content: string, label: string, tag: string): string =>
  `<<<${tag} ${label}\n${content}\n${tag}>>>`

/** Drawn again until it occurs in none of the contents, not even in another case; counted, should the draws repeat. */
export function fenceTag(contents: readonly string[], random: () => string): string {
  const all = contents.map((content) => content.toLowerCase())
  for (let draw = 0; ; draw += 1) {
    const tag = `material-${random()}${draw < 20 ? '' : `-${draw}`}`
    if (!all.some((content) => content.includes(tag.toLowerCase()))) return tag
  }
}

/**
 * Text of a reviewer, made harmless for whoever shows it. Older clients put what a hook says unescaped into
 * `<system-reminder>` blocks, which a closing tag in it would end; terminals obey control characters, and eyes obey
 * characters that turn or hide text; and Claude would obey a line that begins as ours do. What hides goes first, or it
 * would hide a tag from the look for tags.
 */
export const escapeUntrusted = (text: string): string =>
  text
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(/\p{Cf}|[\u115f\u1160\u3164\uffa0]|[\u{e0100}-\u{e01ef}]/gu, '')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]|\p{Cs}/gu, '\ufffd')
    .replace(tagOfClient, '‹$1')
    .replace(ourName, '$1"$2"')

/** What we say begins like this, and nobody else's line may. */
const ourName = /^([^\p{L}\p{N}\n]*)(plan-gate)(?=\s*:)/gimu

/** Whole names and parts of them, in any namespace: `antml:invoke`, `task-notification`, `local-command-stdout`. */
const words =
  'system|reminder|user|assistant|human|function|tool|command|antml|invoke|parameter|instruction|prompt|hook|' +
  'notification'
const tagOfClient = new RegExp(`<(\\s{0,20}/?)(?=\\s{0,20}[\\w:.-]{0,40}(?:${words}))`, 'gi')
