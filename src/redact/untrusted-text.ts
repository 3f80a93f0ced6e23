/** Text of others between two lines with an unpredictable tag: everything between them is data. */
export const fence = (content: string, label: string, tag: string): string =>
  `<<<${tag} ${label}\n${content}\n${tag}>>>`

/** Drawn again until it occurs in none of the contents, in upper or lower case. */
export function fenceTag(contents: readonly string[], random: () => string): string {
  const all = contents.map((content) => content.toLowerCase())
  for (let draw = 0; ; draw += 1) {
    const tag = `material-${random()}${draw < 20 ? '' : `-${draw}`}`
    if (!all.some((content) => content.includes(tag.toLowerCase()))) return tag
  }
}

/**
 * Escapes text of a reviewer for Claude and for a terminal. Older clients put a hook's text unescaped into
 * `<system-reminder>` blocks, which a closing tag in it would end; terminals obey control characters; bidirectional and
 * invisible characters deceive readers; and Claude would take a line that begins like plan-gate's own for one. Invisible
 * characters go first, because they could hide a tag.
 */
export const escapeUntrusted = (text: string): string =>
  text
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(/\p{Cf}|[\u115f\u1160\u3164\uffa0]|[\u{e0100}-\u{e01ef}]/gu, '')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]|\p{Cs}/gu, '\ufffd')
    .replace(tagOfClient, '‹$1')
    .replace(ownPrefix, '$1"$2"')

/** plan-gate's own lines begin like this, and no other line may. */
const ownPrefix = /^([^\p{L}\p{N}\n]*)(plan-gate)(?=\s*:)/gimu

/** Whole names and parts of them, in any namespace: `antml:invoke`, `task-notification`, `local-command-stdout`. */
const words =
  'system|reminder|user|assistant|human|function|tool|command|antml|invoke|parameter|instruction|prompt|hook|' +
  'notification'
const tagOfClient = new RegExp(`<(\\s{0,20}/?)(?=\\s{0,20}[\\w:.-]{0,40}(?:${words}))`, 'gi')
