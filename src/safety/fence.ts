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
