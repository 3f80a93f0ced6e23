/** What a terminal showed, as `tmux capture-pane -p -e` gives it, and for how long it is shown. */
export type Frame = { readonly text: string; readonly seconds: number }

const [cellWidth, lineHeight, fontSize, padding] = [8.43, 19, 14, 16]
const [foreground, background] = ['#e6edf3', '#0d1117']

/** An animated SVG without scripts or other files; who wants no motion sees the last frame. */
export function terminalSvg(
  frames: readonly Frame[],
  { columns, rows }: { columns: number; rows: number },
  title: string,
): string {
  const width = Math.ceil(columns * cellWidth + 2 * padding)
  const height = rows * lineHeight + 2 * padding
  const total = frames.reduce((sum, { seconds }) => sum + seconds, 0)
  let begun = 0
  const shown = frames.map(({ text, seconds }, index) => {
    const [from, to] = [(100 * begun) / total, (100 * (begun + seconds)) / total]
    begun += seconds
    const keys = `@keyframes f${index}{0%,${Math.max(0, from - 0.01).toFixed(2)}%{opacity:0}${from.toFixed(2)}%,${Math.max(from, to - 0.01).toFixed(2)}%{opacity:1}${to.toFixed(2)}%,100%{opacity:${index === frames.length - 1 ? 1 : 0}}}`
    return { keys, group: `<g class="f f${index}">${linesOf(text, rows)}</g>` }
  })
  const last = frames.length - 1
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeXml(title)}">
<title>${escapeXml(title)}</title>
<style>text{font:${fontSize}px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}.f{opacity:0;animation:${total}s infinite step-end}
${shown.map(({ keys }, index) => `.f${index}{animation-name:f${index}}${keys}`).join('\n')}
@media(prefers-reduced-motion:reduce){.f{animation:none}.f${last}{opacity:1}}</style>
<rect width="100%" height="100%" rx="8" fill="${background}"/>
${shown.map(({ group }) => group).join('\n')}
</svg>
`
}

const linesOf = (text: string, rows: number): string =>
  text
    .split('\n')
    .slice(0, rows)
    .map((line, row) => lineOf(line, padding + row * lineHeight))
    .join('')

type Style = { fill: string; behind: string | null; bold: boolean; dim: boolean; swapped: boolean }
const plain: Style = { fill: foreground, behind: null, bold: false, dim: false, swapped: false }

function lineOf(line: string, top: number): string {
  let [style, column] = [plain, 0]
  const boxes: string[] = []
  const runs: string[] = []
  for (const [, codes, text = ''] of line.matchAll(/\u001b\[([\d;:]*)m|([^\u001b]+)/g)) {
    if (codes !== undefined) {
      style = restyled(style, codes)
      continue
    }
    const [fill, behind] = style.swapped ? [style.behind ?? background, style.fill] : [style.fill, style.behind]
    const x = (padding + column * cellWidth).toFixed(1)
    const length = [...text].length
    if (behind !== null)
      boxes.push(
        `<rect x="${x}" y="${top}" width="${(length * cellWidth).toFixed(1)}" height="${lineHeight}" fill="${behind}"/>`,
      )
    const more = `${style.bold ? ' font-weight="bold"' : ''}${style.dim ? ' opacity=".6"' : ''}`
    if (text.trim() !== '')
      runs.push(
        `<text x="${x}" y="${top + fontSize}" fill="${fill}" textLength="${(length * cellWidth).toFixed(1)}"${more}>${escapeXml(text)}</text>`,
      )
    column += length
  }
  return boxes.join('') + runs.join('')
}

function restyled(before: Style, codes: string): Style {
  let style = before
  const numbers = codes.split(/[;:]/).map(Number)
  for (let at = 0; at < numbers.length; at += 1) {
    const code = numbers[at] ?? 0
    if (code === 0) style = plain
    else if (code === 1) style = { ...style, bold: true }
    else if (code === 2) style = { ...style, dim: true }
    else if (code === 22) style = { ...style, bold: false, dim: false }
    else if (code === 7) style = { ...style, swapped: true }
    else if (code === 27) style = { ...style, swapped: false }
    else if (code === 39) style = { ...style, fill: foreground }
    else if (code === 49) style = { ...style, behind: null }
    else if (code === 38 || code === 48) {
      const isTrue = numbers[at + 1] === 2
      const colour = isTrue
        ? `#${numbers
            .slice(at + 2, at + 5)
            .map((part) => part.toString(16).padStart(2, '0'))
            .join('')}`
        : ofPalette(numbers[at + 2] ?? 0)
      style = code === 38 ? { ...style, fill: colour } : { ...style, behind: colour }
      at += isTrue ? 4 : 2
    } else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97))
      style = { ...style, fill: ofPalette(code >= 90 ? code - 82 : code - 30) }
    else if (code >= 40 && code <= 47) style = { ...style, behind: ofPalette(code - 40) }
  }
  return style
}

const named =
  '#484f58 #ff7b72 #3fb950 #d29922 #58a6ff #bc8cff #39c5cf #b1bac4 #6e7681 #ffa198 #56d364 #e3b341 #79c0ff #d2a8ff #56d4dd #f0f6fc'.split(
    ' ',
  )

/** The 256 colours of xterm. */
function ofPalette(index: number): string {
  if (index < 16) return named[index] ?? foreground
  const parts =
    index < 232
      ? [36, 6, 1].map((step) => Math.floor((index - 16) / step) % 6).map((part) => (part === 0 ? 0 : 55 + 40 * part))
      : [0, 0, 0].map(() => 8 + 10 * (index - 232))
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`
}

const escapeXml = (text: string): string => text.replace(/[<>&"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
