import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type GitEntry = { readonly key: string; readonly value: string }

/** What git itself reads in each of these config files; null where it would not run with such a file. */
export function entriesForGit(texts: readonly string[]): readonly (readonly GitEntry[] | null)[] {
  const folder = mkdtempSync(join(tmpdir(), 'plan-gate-config-'))
  try {
    for (const [index, text] of texts.entries()) writeFileSync(join(folder, String(index)), text)
    const script = `n=0; while [ $n -lt ${texts.length} ]; do
      git config --file $n --no-includes --list -z 2>/dev/null; printf '\\0\\0%s\\0\\0\\0' $?; n=$((n + 1)); done`
    const { stdout } = spawnSync('sh', ['-c', script], { cwd: folder, maxBuffer: 256 * 1024 * 1024 })
    return stdout.toString('utf8').split('\0\0\0').slice(0, -1).map(entriesIn)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function entriesIn(printed: string): GitEntry[] | null {
  const border = printed.lastIndexOf('\0\0')
  if (printed.slice(border + 2) !== '0') return null
  return printed
    .slice(0, border)
    .split('\0')
    .filter((entry) => entry !== '')
    .map((entry) => {
      const at = entry.indexOf('\n')
      // A key without a value means true.
      return at < 0 ? { key: entry, value: 'true' } : { key: entry.slice(0, at), value: entry.slice(at + 1) }
    })
}
