import type { ProgressListener } from '../src/install/context.ts'
import { readTrust, type Trust, trustItems } from '../src/install/trust.ts'
import type { GitDirs } from '../src/system/git-dirs.ts'

/** Null where there is nobody to ask. */
export type Ask = ((question: string) => Promise<boolean>) | null

/** Shows what the repository brings and is not trusted yet, item by item, and asks once. No answer is no. */
export async function askTrust(
  root: string,
  gitDirs: GitDirs,
  { trust: isGiven, ask }: { trust: boolean; ask: Ask },
  onProgress: ProgressListener,
): Promise<Trust> {
  const trust = await readTrust(root, gitDirs)
  const { untrusted } = trust
  if (untrusted.length === 0) return trust
  for (const { id, path, what, runs, state } of untrusted)
    onProgress({ event: 'brings', id, path, what, runs: [...runs], state })
  if (!isGiven && !(await (ask?.(question(trust)) ?? false))) {
    onProgress({ event: 'notice', detail: describeRefusal(trust) })
    return trust
  }
  trustItems(gitDirs, untrusted)
  return readTrust(root, gitDirs)
}

const question = ({ untrusted }: Trust): string =>
  `Let Claude Code load ${untrusted.length === 1 ? 'this' : `these ${untrusted.length}`}? Programs of it run outside of the gate. [y/N] `

function describeRefusal({ loadsRepository, withheldPlugins }: Trust): string {
  const withheld = withheldPlugins.length === 0 ? '' : `${withheldPlugins.join(', ')} stays switched off. `
  const left = loadsRepository
    ? ''
    : 'A session that plan-gate starts loads nothing of this repository’s .claude and .mcp.json, but the text of its CLAUDE.md; one that is started by hand loads it, and its gate stays closed. '
  return `${withheld}${left}\`plan-gate trust\` shows it again and changes that.`
}
