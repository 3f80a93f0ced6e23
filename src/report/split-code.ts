export type CodeSpan = { readonly text: string; readonly isCode: boolean }

/** Text with `code` in it, as reviewers write; everything else of Markdown stays as it was written. */
export function splitCode(text: string): readonly CodeSpan[] {
  const spans: CodeSpan[] = []
  let done = 0
  for (const match of text.matchAll(/`([^`\n]{1,400})`/g)) {
    if (match.index > done) spans.push({ text: text.slice(done, match.index), isCode: false })
    spans.push({ text: match[1] ?? '', isCode: true })
    done = match.index + match[0].length
  }
  return done < text.length ? [...spans, { text: text.slice(done), isCode: false }] : spans
}
