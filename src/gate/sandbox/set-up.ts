import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { sandboxDir } from '../../state/own-paths.ts'
import type { GitDirs } from '../../system/git-dirs.ts'
import { proveSandbox, type SandboxProof } from './canary.ts'
import { findEngine } from './engine.ts'
import { dropRehearsal, installWrapper, type SandboxSettings, writeProfiles } from './prepare.ts'
import { markSession, pruneMarks, readMode, wrapperPath, writeMode } from './rules.ts'

/** At install, outside of any session: the wrapper, the engine, and whether commands run in the sandbox at all. */
export async function setUpSandbox(root: string, gitDirs: GitDirs, settings: SandboxSettings): Promise<SandboxProof> {
  if (wrapperPath(gitDirs.own) === null) return fails(`there is none for ${process.platform}`)
  const engine = findEngine()
  installWrapper(root, gitDirs, engine)
  writeMode(gitDirs.own, 'sandbox')
  const proof = await writeAndProve(root, gitDirs, settings)
  if (proof.kind === 'fails') writeMode(gitDirs.own, 'list', proof.why)
  return proof
}

/** The clients that were seen to start each command and hook through the wrapper. Before, `onFailure` let a late hook pass. */
const testedClients = { oldest: [2, 1, 295], newest: [2, 1, 328] } as const

/** From the output of `--version`: `git version 2.39.5`, `2.1.327 (Claude Code)`, `codex-cli 0.169.0`. */
export function parseVersion(text: string): readonly [number, number, number] | null {
  const match = /(\d+)\.(\d+)(?:\.(\d+))?/.exec(text)
  return match === null ? null : [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)]
}

export const isAtLeast = (version: readonly number[], minimum: readonly number[]): boolean => {
  const index = minimum.findIndex((number, i) => number !== version[i])
  return index === -1 || (version[index] ?? 0) > (minimum[index] ?? 0)
}

/** What does not hold with an older Claude Code; null if it is new enough. */
export const oldClientProblem = (version: readonly number[]): string | null =>
  isAtLeast(version, testedClients.oldest)
    ? null
    : `${version.join('.')} is older than ${testedClients.oldest.join('.')}: a hook that times out or cannot be started lets the call through, and there is no sandbox, so the list decides about commands`

/** A canary that fails leaves the mode: the gate may just have let a command pass because the sandbox holds. */
export async function startSandboxSession(
  root: string,
  gitDirs: GitDirs,
  settings: SandboxSettings,
  session: { readonly id: string | undefined; readonly client: string | null },
): Promise<SandboxProof> {
  const { own } = gitDirs
  if (readMode(own) === null) return fails('it is not set up here; `plan-gate install` does that')
  pruneMarks(own, session.id)
  const proof = await writeAndProve(root, gitDirs, settings)
  if (proof.kind === 'fails') return proof
  writeMode(own, 'sandbox')
  if (process.env.CLAUDE_CODE_SHELL_PREFIX !== wrapperPath(own))
    return fails('Claude Code was not started with CLAUDE_CODE_SHELL_PREFIX for this worktree')
  if (session.id !== undefined && /^[\w-]+$/.test(session.id)) {
    markSession(own, session.id, 'proven')
    if (isTested(session.client)) markSession(own, session.id, 'tested')
  }
  return proof
}

async function writeAndProve(root: string, gitDirs: GitDirs, settings: SandboxSettings): Promise<SandboxProof> {
  if (!['linux', 'darwin'].includes(process.platform)) return fails(`there is none for ${process.platform}`)
  if (
    process.platform === 'linux' &&
    lstatSync(join(gitDirs.own, sandboxDir, 'bwrap'), { throwIfNoEntry: false }) === undefined
  )
    return fails('no bubblewrap was found; install Codex or your system’s bubblewrap, then run `plan-gate install`')
  try {
    writeProfiles(root, gitDirs, settings)
  } catch (error) {
    // Without a HOME, for example, or where somebody else has taken the folder in /tmp.
    return fails(`it cannot be set up here (${error instanceof Error ? error.message : error})`)
  }
  const proof = await proveSandbox(root, gitDirs, settings)
  if (proof.kind === 'holds' && !proof.rehearsal) dropRehearsal(gitDirs.own)
  return proof
}

const fails = (why: string): SandboxProof => ({ kind: 'fails', why })

const isTested = (client: string | null): boolean => {
  const version = parseVersion(client ?? '')
  return version !== null && isAtLeast(version, testedClients.oldest) && isAtLeast(testedClients.newest, version)
}
