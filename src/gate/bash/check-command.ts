import { type Line, readLine } from './parse.ts'
import { judgePart } from './policy.ts'
import { asVerdict, isRefusal, type Refusal, refuse } from './refusal.ts'

export type BashPolicy = {
  /** Whether `a | b`, `a && b` and `a ; b` are judged by their parts. */
  readonly compound: boolean
  /** `gate.bash.allow`: commands, perhaps with their first words, that may have any flags. */
  readonly allowed: readonly string[]
  /** Keys and hooks of the repository that changed since the worktree was opened: git may run what they name. */
  readonly untrustedGitKeys: readonly string[]
}

export type BashVerdict = { kind: 'allow' } | { kind: 'deny'; rule: Refusal['rule']; part: string; reason: string }

/** Whether a command line is proved to only read. What cannot be proved is denied. */
export function judgeCommand(command: string, policy: BashPolicy): BashVerdict {
  return asVerdict(judgeLine(command, policy))
}

function judgeLine(command: string, policy: BashPolicy): Refusal | undefined {
  const line = readSafely(command)
  if (isRefusal(line)) return line
  if (line.isCompound && !policy.compound)
    return refuse(
      'compound',
      command,
      'is more than one plain command, which gate.bash.compound: false does not allow',
      'Split it: run the commands one by one, without redirections.',
    )
  for (const part of line.parts) {
    const refusal = judgePart(part, policy)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

/** A parser that fails has not read the line, and a line that nobody read is not allowed. */
function readSafely(command: string): Line | Refusal {
  try {
    return readLine(command)
  } catch {
    return refuse('syntax', command, 'could not be read', 'Simplify it: one plain command with plain words.')
  }
}
