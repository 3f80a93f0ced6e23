/** A command as a document states it, and what it shows as its output; null where it shows none. */
export type Stated = { command: string; output: string | null; line: number }

/** The commands of every shell block: each line of `sh`, and in `console` what stands behind a `$`. */
export function readDocument(markdown: string): Stated[] {
  return blocksIn(markdown, ['sh', 'bash', 'console']).flatMap(({ language, lines, line }) =>
    language === 'console' ? inConsole(lines, line) : inShell(lines, line),
  )
}

/** The commands of `run:` lines in YAML blocks. */
export const readRunLines = (yaml: string): string[] =>
  yaml.split('\n').flatMap((line) => /^\s*(?:- )?run: (.+)$/.exec(line)?.[1] ?? [])

export type Block = { language: string; lines: string[]; line: number }

export function blocksIn(markdown: string, languages: readonly string[]): Block[] {
  const blocks: Block[] = []
  let open: Block | null = null
  for (const [index, text] of markdown.split('\n').entries()) {
    const fence = /^```(\S*)/.exec(text)
    if (fence === null) open?.lines.push(text)
    else if (open === null) open = { language: fence[1] ?? '', lines: [], line: index + 2 }
    else {
      blocks.push(open)
      open = null
    }
  }
  return blocks.filter(({ language }) => languages.includes(language))
}

/** A line that ends in a backslash goes on. */
function inShell(lines: readonly string[], first: number): Stated[] {
  const found: Stated[] = []
  let begun = ''
  for (const [index, text] of lines.entries()) {
    const whole = `${begun}${text}`
    begun = whole.endsWith('\\') ? `${whole}\n` : ''
    if (begun === '' && bare(whole) !== '') found.push({ command: bare(whole), output: null, line: first + index })
  }
  return found
}

function inConsole(lines: readonly string[], first: number): Stated[] {
  const found: Stated[] = []
  for (const [index, text] of lines.entries()) {
    const last = found.at(-1)
    if (text.startsWith('$ ')) found.push({ command: bare(text.slice(2)), output: '', line: first + index })
    else if (last !== undefined) last.output += `${text}\n`
  }
  return found
}

/** Without the comment behind it; a `#` inside of quotes or of a word is none. */
const bare = (line: string): string => /^(?:'[^']*'|"(?:[^"\\]|\\.)*"|(?<=\S)#|[^'"#])*/s.exec(line)?.[0].trim() ?? ''
