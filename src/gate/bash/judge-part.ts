import { commands } from './command-table.ts'
import type { BashPolicy } from './judge-command.ts'
import { judgeFind } from './judge-find.ts'
import { judgeGit } from './judge-git.ts'
import { judgeRow } from './judge-row.ts'
import type { Part } from './read-command.ts'
import { type Refusal, refuse } from './refusal.ts'
import { refuseCommand } from './refuse-command.ts'

/** One simple command of the line: allowed by its row, or because the configuration names it. */
export function judgePart(part: Part, policy: BashPolicy): Refusal | undefined {
  const name = part.words[0]?.text ?? ''
  if (name === 'git' && policy.untrustedGitKeys.length > 0) return distrustGit(part, policy.untrustedGitKeys)
  const refusal = judgeBuiltIn(part)
  return refusal !== undefined && isNamed(part, policy.allowed) ? undefined : refusal
}

function judgeBuiltIn({ words, isPiped }: Part): Refusal | undefined {
  const [first, ...rest] = words
  if (first === undefined) return refuseCommand('')
  if (first.raw !== first.text)
    return refuse('command', first.raw, 'is a quoted command name', 'Write the name plainly.')
  const revision = rest.find((word) => word.isRevision)
  if (revision !== undefined && first.text !== 'git')
    return refuse('glob', revision.raw, 'contains an unquoted ^ or brace', `Quote it: '${revision.text}'.`)
  const texts = rest.map((word) => word.text)
  switch (first.text) {
    case 'git':
      return judgeGit(texts, isPiped)
    case 'find':
      return judgeFind(texts)
    case 'echo':
      return undefined
  }
  const row = commands.get(first.text)
  return row === undefined ? refuseCommand(first.text) : judgeRow(row, row.name, texts, isPiped)
}

/** An entry of `gate.bash.allow` is a command, or a command and its first words. */
const isNamed = ({ words }: Part, allowed: readonly string[]): boolean =>
  allowed.some((entry) => {
    const named = entry.split(' ').filter((word) => word !== '')
    return named.length > 0 && named.every((word, index) => words[index]?.text === word)
  })

const distrustGit = (part: Part, keys: readonly string[]): Refusal =>
  refuse(
    'git-config',
    part.text,
    `may run a program: ${keys.slice(0, 5).join(', ')} changed since this worktree was opened`,
    'Use rg, ls and the Read tool meanwhile. The user can undo the change, or take it over: plan-gate drift accept.',
  )
