const begin = '# >>> plan-gate: its files in a worktree, so that they do not show up in `git status`'
const end = '# <<< plan-gate'

/** Which notes the block carries, so that taking it out gives back the very bytes that stood here before. */
type Origin = 'plain' | 'line-end-added' | 'file-created'

const markOf: { readonly [origin in Origin]: string } = {
  plain: '',
  'line-end-added': ' (the line end before this is ours)',
  'file-created': ' (the file is ours)',
}

/** `info/exclude` with our block holding these patterns; null stands for a file that is not there. */
export function withExcludeBlock(text: string | null, patterns: readonly string[]): string | null {
  const bare = withoutExcludeBlock(text)
  if (patterns.length === 0) return bare
  const origin: Origin =
    bare === null ? 'file-created' : bare === '' || bare.endsWith('\n') ? 'plain' : 'line-end-added'
  const block = [`${begin}${markOf[origin]}`, ...patterns, end, ''].join('\n')
  return `${bare ?? ''}${origin === 'line-end-added' ? '\n' : ''}${block}`
}

function withoutExcludeBlock(text: string | null): string | null {
  if (text === null) return null
  const start = text.indexOf(begin)
  const stop = text.indexOf(`\n${end}\n`, start)
  if (start === -1 || stop === -1) return text
  const mark = text.slice(start + begin.length, text.indexOf('\n', start))
  const head = text.slice(0, mark === markOf['line-end-added'] ? start - 1 : start)
  const rest = head + text.slice(stop + end.length + 2)
  return rest === '' && mark === markOf['file-created'] ? null : rest
}
