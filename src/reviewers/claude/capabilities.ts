import { tmpdir } from 'node:os'
import type { Failure } from '../../schemas/review.ts'
import { failureOf } from '../failure.ts'
import { runInGroup } from '../process.ts'
import { flagsIn, identifyProgram, readCached, writeCached } from '../program-cache.ts'
import { failureOfHelp } from '../program-failures.ts'
import { requiredFlags } from './args.ts'
import { type ClaudeSetup, claudeEnvironment } from './environment.ts'
import { claudeProgram } from './failures.ts'

/** The required flags that this Claude Code lacks, by the text of its help. */
export function missingFlags(help: string): string[] {
  const known = flagsIn(help)
  return requiredFlags.filter((flag) => !known.has(flag))
}

/** null: it can review. Read once for each Claude Code and cached. */
export async function checkCapabilities(
  { program, env, cacheDir }: ClaudeSetup,
  folder: string,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<Failure | null> {
  const identity = identifyProgram(program)
  if (identity === null)
    return failureOf('not-installed', `Claude Code was not found: ${program}.`, claudeProgram.install)
  const key = { name: 'claude', identity }
  if (cacheDir !== null && readCached(cacheDir, key, parseKnown) === true) return null
  const help = await runInGroup(program, ['--help'], {
    cwd: tmpdir(),
    env: { ...claudeEnvironment(env), CLAUDE_CONFIG_DIR: folder },
    input: '',
    timeoutMs: Math.min(timeoutMs, 15_000),
    silenceMs: null,
    signal,
    maxOutputBytes: 256 * 1024,
  })
  if (help.kind !== 'ended' || help.exitCode !== 0) return failureOfHelp(claudeProgram, help)
  const missing = missingFlags(help.stdout)
  if (missing.length > 0)
    return failureOf(
      'not-installed',
      `This Claude Code is too old for reviews: it lacks ${missing.join(', ')}.`,
      'Update it: claude update; or use another reviewer.',
    )
  if (cacheDir !== null) writeCached(cacheDir, key, true)
  return null
}

const parseKnown = (text: string): true | null => (text === 'true' ? true : null)
