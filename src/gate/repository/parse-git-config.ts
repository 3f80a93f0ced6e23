export type ConfigEntry = { readonly key: string; readonly value: string }

/**
 * The entries of a git config file, keys in lower case but for the middle part, as git names them
 * (`diff.MyDriver.textconv`). Null where the text is not plainly of that form: then nobody should guess.
 */
export function parseGitConfig(text: string): ConfigEntry[] | null {
  const entries: ConfigEntry[] = []
  let section = ''
  for (const line of logicalLines(text)) {
    const header = /^\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\.)*)")?\]/.exec(line)
    const rest = (header === null ? line : line.slice(header[0].length)).trim()
    if (header !== null) section = sectionName(header[1] ?? '', header[2])
    if (rest === '' || /^[#;]/.test(rest)) continue
    const entry = /^([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=([\s\S]*))?$/.exec(rest)
    if (entry === null || section === '') return null
    // A key without `=` means true.
    entries.push({
      key: `${section}.${entry[1]?.toLowerCase()}`,
      value: entry[2] === undefined ? 'true' : valueText(entry[2]),
    })
  }
  return entries
}

/** A backslash at the end of a line takes the next one in. */
const logicalLines = (text: string): string[] =>
  text
    .replace(/\r\n/g, '\n')
    .replace(/\\\n/g, '\u0000')
    .split('\n')
    .map((line) => line.replaceAll('\u0000', '').trim())

const sectionName = (name: string, sub: string | undefined): string =>
  sub === undefined ? name.toLowerCase() : `${name.toLowerCase()}.${sub.replace(/\\(.)/g, '$1')}`

/** Quotes and comments gone; how git reads the rest does not matter for telling two values apart. */
const valueText = (raw: string): string =>
  raw
    .replace(/"((?:[^"\\]|\\.)*)"|[#;].*$/g, (whole, quoted: string | undefined) =>
      whole.startsWith('"') ? (quoted ?? '') : '',
    )
    .trim()
