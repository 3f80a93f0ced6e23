import { createHash, randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import type { Failure } from '../../schemas/review.ts'
import { asRecord } from '../../text/json.ts'
import { cancelledFailure, failureOf } from '../failure.ts'
import { type GroupOutcome, runInGroup } from '../process.ts'
import { type CodexSetup, codexEnvironment } from './environment.ts'
import { classifyFailure } from './failures.ts'

/** The user's cache folder by the XDG rules, which ignore a relative path. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  const xdg = env.XDG_CACHE_HOME ?? ''
  if (isAbsolute(xdg)) return join(xdg, 'plan-gate')
  const home = env.HOME ?? ''
  return join(isAbsolute(home) ? home : homedir(), '.cache', 'plan-gate')
}

type CapabilityResult =
  | ({ readonly kind: 'known' } & Capabilities)
  | { readonly kind: 'failed'; readonly failure: Failure }

type Within = { readonly timeoutMs: number; readonly signal: AbortSignal }

/** Read once for each Codex and cached: starting it costs more than all other preparations of a review. */
export async function readCapabilities(setup: CodexSetup, folder: string, within: Within): Promise<CapabilityResult> {
  const identity = identifyProgram(setup.program)
  if (identity === null) return notInstalled(`There is no Codex at ${setup.program}.`, install)
  const cached = setup.cacheDir === null ? null : readCached(setup.cacheDir, identity)
  if (cached !== null) return { kind: 'known', ...cached }
  const found = await readHelp(setup, folder, within)
  if (found.kind === 'known' && setup.cacheDir !== null) writeCached(setup.cacheDir, identity, found)
  return found
}

const install = 'Install it: npm i -g @openai/codex; or use another reviewer.'

async function readHelp(setup: CodexSetup, folder: string, within: Within): Promise<CapabilityResult> {
  // An empty CODEX_HOME, so that an error in the user's configuration does not make a feature look unknown.
  const env = { ...codexEnvironment(setup.env), CODEX_HOME: folder }
  const run = (...args: string[]): Promise<GroupOutcome> =>
    runInGroup(setup.program, args, {
      cwd: tmpdir(),
      env,
      input: '',
      timeoutMs: Math.min(within.timeoutMs, 15_000),
      silenceMs: null,
      signal: within.signal,
      maxOutputBytes: 256 * 1024,
    })
  const [exec, resume, features, instructions] = await Promise.all([
    run('exec', '--help'),
    run('exec', 'resume', '--help'),
    run('features', 'list'),
    // Not in any help; one that knows the setting reports that the file is missing, before it looks for a prompt.
    run('exec', '--skip-git-repo-check', '-c', `model_instructions_file=${JSON.stringify(join(folder, 'none'))}`, '-'),
  ])
  const failed = [exec, resume].find((outcome) => outcome.kind !== 'ended' || outcome.exitCode !== 0)
  if (failed !== undefined) return { kind: 'failed', failure: helpFailure(failed) }
  const help = { exec: textOf(exec), resume: textOf(resume) }
  const missing = missingCapabilities(help)
  if (missing.length > 0)
    return notInstalled(
      `This Codex is too old for reviews: it lacks ${missing.join(', ')}.`,
      'Update it: npm i -g @openai/codex@latest; or use another reviewer.',
    )
  return {
    kind: 'known',
    features: featuresIn(textOf(features)),
    canIgnoreRules: flagsIn(help.exec).has('--ignore-rules'),
    canReplaceInstructions: instructions.kind === 'ended' && instructions.stderr.includes('model instructions file'),
  }
}

const textOf = (outcome: GroupOutcome): string =>
  outcome.kind === 'ended' && outcome.exitCode === 0 ? outcome.stdout : ''

function helpFailure(outcome: GroupOutcome): Failure {
  switch (outcome.kind) {
    case 'cancelled':
      return cancelledFailure
    case 'timed-out':
    case 'silent':
      return failureOf(
        'timeout',
        'Codex did not even show its help in time.',
        'Try `codex exec --help` yourself; or use another reviewer.',
      )
    case 'ended':
    case 'killed-by':
    case 'stopped':
      return classifyFailure(outcome.stderr, [])?.failure ?? broken
    case 'not-found':
    case 'not-started':
      return broken
  }
}

const broken = failureOf(
  'not-installed',
  'Codex does not run.',
  'Try `codex exec --help` yourself; reinstall it with npm i -g @openai/codex.',
)

const notInstalled = (why: string, nextStep: string): CapabilityResult => ({
  kind: 'failed',
  failure: failureOf('not-installed', why, nextStep),
})

/** The flags of `codex exec` and `codex exec resume` that a review uses. */
const required = {
  exec: [
    '--json',
    '--sandbox',
    '--cd',
    '--skip-git-repo-check',
    '--output-last-message',
    '--output-schema',
    '--ephemeral',
    '--model',
  ],
  resume: ['--json', '--model'],
} as const

/** Beyond the required flags. */
export type Capabilities = {
  /** As `codex features list` names them. */
  readonly features: readonly string[]
  readonly canIgnoreRules: boolean
  readonly canReplaceInstructions: boolean
}

type HelpTexts = { exec: string; resume: string }

/** The required flags that this Codex lacks. */
export function missingCapabilities(help: HelpTexts): string[] {
  const exec = flagsIn(help.exec)
  const resume = flagsIn(help.resume)
  return [
    ...required.exec.filter((flag) => !exec.has(flag)).map((flag) => `exec ${flag}`),
    ...required.resume.filter((flag) => !resume.has(flag)).map((flag) => `exec resume ${flag}`),
  ]
}

/** Help texts list a flag at the start of its own line: `  -s, --sandbox <MODE>` or `      --json`. */
const flagsIn = (help: string): Set<string> =>
  new Set([...help.matchAll(/^ +(?:-[a-zA-Z], )?(--[a-z][a-z-]*)/gm)].flatMap(([, flag]) => flag ?? []))

/** Lines such as `shell_tool    stable    true`, without the removed features that old configurations may name. */
export const featuresIn = (list: string): string[] =>
  [...list.matchAll(/^([a-z][\w.]*) +(\S.*?) +(?:true|false)\s*$/gm)].flatMap(([, name, stage]) =>
    name === undefined || stage === 'removed' ? [] : name,
  )

/** null: no cache entry, or one that other users could have written. */
export function readCached(folder: string, identity: string): Capabilities | null {
  try {
    if (!isPrivateFolder(folder)) return null
    // A FIFO would block, and a link would be followed.
    const file = openSync(pathOf(folder, identity), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const stat = fstatSync(file)
      if (!stat.isFile() || !isPrivate(stat) || stat.size > 256 * 1024) return null
      return parse(readFileSync(file, 'utf8'))
    } finally {
      closeSync(file)
    }
  } catch {
    return null
  }
}

/** Atomic: two processes may write at once. A failure to write is ignored. */
export function writeCached(folder: string, identity: string, capabilities: Capabilities): void {
  const temporary = join(folder, `.codex-${process.pid}-${randomBytes(6).toString('hex')}`)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    if (!isPrivateFolder(folder)) return
    writeFileSync(temporary, JSON.stringify(capabilities), { mode: 0o600, flag: 'wx' })
    renameSync(temporary, pathOf(folder, identity))
  } catch {
    removeIfThere(temporary)
  }
}

function removeIfThere(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // The parent is no folder.
  }
}

const pathOf = (folder: string, identity: string): string => join(folder, `codex-${identity.slice(0, 32)}.json`)

/** Another user who can write there could forge the capabilities. */
function isPrivateFolder(folder: string): boolean {
  const stat = lstatSync(folder)
  return stat.isDirectory() && isPrivate(stat)
}

const isPrivate = ({ uid, mode }: Stats): boolean =>
  process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0)

function parse(text: string): Capabilities | null {
  const value: unknown = JSON.parse(text)
  const { features, canIgnoreRules, canReplaceInstructions } = asRecord(value)
  if (typeof canIgnoreRules !== 'boolean' || typeof canReplaceInstructions !== 'boolean') return null
  if (!Array.isArray(features)) return null
  const names = features.filter((name): name is string => typeof name === 'string')
  return { features: names, canIgnoreRules, canReplaceInstructions }
}

/**
 * Identifies a Codex without starting it. npm gives the launcher the same size and time in every version, so the
 * package.json beside it counts as well. null: there is no such program.
 */
export function identifyProgram(program: string): string | null {
  try {
    const path = realpathSync(program)
    const { size, mtimeMs, ino } = statSync(path)
    const packages = ['package.json', join('..', 'package.json')].map((name) => readOr(join(dirname(path), name)))
    return createHash('sha256')
      .update(JSON.stringify([1, path, size, mtimeMs, ino, ...packages]))
      .digest('hex')
  } catch {
    return null
  }
}

function readOr(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').slice(0, 100_000)
  } catch {
    return null
  }
}
