import type { CompiledConfig } from '../config/schema.ts'
import { relativeEntries } from '../system/find-program.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { loadBundle } from '../system/load-bundle.ts'
import { checkCommand, checkPlainCommand } from './bash/check-command.ts'
import type { CheckedCommand } from './decide.ts'
import { changedGitConfigKeys } from './working-tree.ts'

type BashConfig = { allow?: readonly string[]; compound?: boolean }

/** In the sandbox a command can change nothing. In brackets: what a skill or an agent would load besides commands. */
export const passInSandbox = (commands: readonly string[]): readonly CheckedCommand[] =>
  commands.map((command) => ({ command, refusal: command.startsWith('(') ? loadsMore : null }))

const loadsMore: CheckedCommand['refusal'] = { rule: 'loads', reason: 'It loads more than commands.' }

/**
 * Checks command lines against the list, with what this worktree and its configuration allow. Git's configuration is
 * read only where git is named, and the parser is loaded only for a line that is more than plain words.
 */
export async function checkCommands(
  root: string,
  config: CompiledConfig,
  commands: readonly string[],
): Promise<readonly CheckedCommand[]> {
  if (commands.length === 0) return []
  const [relative] = relativeEntries(process.env.PATH)
  if (relative !== undefined) return commands.map((command) => ({ command, refusal: refuseRelativePath(relative) }))
  const bash = (config.config.gate as { bash?: BashConfig } | undefined)?.bash
  const policy = {
    compound: bash?.compound ?? true,
    allowed: bash?.allow ?? [],
    untrustedGitKeys: commands.some((command) => /\bgit\b/.test(command.slice(0, 10_000))) ? untrustedKeys(root) : [],
  }
  const checked: CheckedCommand[] = []
  for (const command of commands) {
    const verdict = checkPlainCommand(command, policy) ?? checkCommand(command, policy, (await loadParser()).readLine)
    checked.push({ command, refusal: verdict.kind === 'allow' ? null : verdict })
  }
  return checked
}

/** The bundle's entry is `bash/parse.ts`. */
const loadParser = (): Promise<typeof import('./bash/parse.ts')> => loadBundle('./judge-command.mjs')

const refuseRelativePath = (entry: string): CheckedCommand['refusal'] => ({
  rule: 'path',
  reason: `PATH has an entry that is not absolute, ${JSON.stringify(entry)}, so any command could be a program of this repository. The user has to remove it and start Claude Code again.`,
})

function untrustedKeys(root: string): string[] {
  const gitDirs = readGitDirs(root)
  return gitDirs === null ? [] : changedGitConfigKeys(root, gitDirs)
}
