/**
 * What a terminal obeys and eyes are led astray by, in whatever came from a plan, a file name or git; our own colours
 * stay. The last net: what is known to come from elsewhere has been through `neutralise` before.
 */
export const tameText = (text: string, isColoured: boolean): string =>
  text
    .replace(/\r\n/g, '\n')
    .replace(isColoured ? /\u001b(?!\[(?:1|2|22|31|32|33|36|39)m)/g : /\u001b/g, '\ufffd')
    .replace(/[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]/g, '\ufffd')
    .replace(hiding, '')

/** The same text for every parser, and nothing that a terminal obeys. */
export const tameJson = (json: string): string => json.replace(/[\u007f-\u009f]/g, escaped).replace(hiding, escaped)

const hiding = /[\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu

const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('')
