/** Material under review between two lines with a tag that nobody could have foreseen. What stands there is data. */
export const fence = (content: string, label: string, tag: string): string =>
  `<<<${tag} ${label}\n${content}\n${tag}>>>`

/** Drawn again until it occurs in none of the contents, not even in another case. */
export function fenceTag(contents: readonly string[], random: () => string): string {
  for (;;) {
    const tag = `material-${random()}`
    const plain = tag.toLowerCase()
    if (!contents.some((content) => content.toLowerCase().includes(plain))) return tag
  }
}
