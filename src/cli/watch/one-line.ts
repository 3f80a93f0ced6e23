import { neutralise } from '../../safety/neutralise.ts'

const longest = 1_000

/** Foreign text as it may stand in a line of a terminal: nothing in it is obeyed, hidden or piled up. */
export const oneLine = (text: string): string =>
  neutralise(text.slice(0, 4 * longest))
    .replace(/\s+/g, ' ')
    // A letter with a hundred accents is drawn across the lines above and below it.
    .replace(/([\p{Mn}\p{Me}]{3})[\p{Mn}\p{Me}]+/gu, '$1')
    .replaceAll('\ufe0f', '')
    .trim()
    .slice(0, longest)
    .replace(/[\ud800-\udbff]$/, '')
