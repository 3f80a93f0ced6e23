import type { BashPolicy, BashVerdict } from '../gate/bash/judge-command.ts'
import type { GateContext } from '../gate/decide-tool-call.ts'
import type { CompiledConfig } from '../schemas/compiled-config.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { relativeEntries } from '../system/search-path.ts'
import { loadModule } from './load-module.ts'
import { changedGitConfigKeys } from './untrusted-here.ts'

type BashConfig = { allow?: readonly string[]; compound?: boolean }

/**
 * The judge of these command lines, with what this worktree and its configuration say. Git's configuration is looked
 * at only where git is named, and the parser is loaded only for a line that is more than plain words.
 */
export async function commandJudge(
  root: string,
  config: CompiledConfig,
  commands: readonly string[],
): Promise<GateContext['judgeCommand']> {
  if (commands.length === 0) return unasked
  const [relative] = relativeEntries(process.env.PATH)
  if (relative !== undefined) return () => ambiguous(relative)
  const bash = (config.config.gate as { bash?: BashConfig } | undefined)?.bash
  const policy = {
    compound: bash?.compound ?? true,
    allowed: bash?.allow ?? [],
    untrustedGitKeys: commands.some((command) => /\bgit\b/.test(command.slice(0, 10_000))) ? untrustedIn(root) : [],
  }
  const verdicts = new Map<string, BashVerdict>()
  for (const command of commands) verdicts.set(command, await judge(command, policy))
  return (command) => {
    const verdict = verdicts.get(command)
    return verdict === undefined ? unasked() : verdict.kind === 'allow' ? null : verdict
  }
}

async function judge(command: string, policy: BashPolicy): Promise<BashVerdict> {
  const { judgePlain } = await import('../gate/bash/judge-plain.ts')
  const { asVerdict } = await import('../gate/bash/as-verdict.ts')
  const plain = judgePlain(command, policy)
  if (plain.kind === 'unread') return (await loadParser()).judgeCommand(command, policy)
  return asVerdict(plain.kind === 'allowed' ? undefined : plain.refusal)
}

type Parser = typeof import('../gate/bash/judge-command.ts')
const loadParser = (): Promise<Parser> => loadModule('judge-command') as Promise<Parser>

const ambiguous = (entry: string) => ({
  rule: 'path',
  reason: `PATH has an entry that is not absolute, ${JSON.stringify(entry)}, so any command could be a program of this repository. The user has to take it out and start Claude Code again.`,
})

/** For calls without a command. */
const unasked = () => ({ rule: 'unasked', reason: 'No command was expected.' })

function untrustedIn(root: string): string[] {
  const gitDirs = readGitDirs(root)
  return gitDirs === null ? [] : changedGitConfigKeys(root, gitDirs)
}
