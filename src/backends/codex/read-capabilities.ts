import { tmpdir } from 'node:os'
import type { Failure } from '../../schemas/backend.ts'
import { type GroupOutcome, runInGroup } from '../run-in-group.ts'
import { type Capabilities, featuresIn, flagsIn, missingCapabilities } from './capabilities.ts'
import { readCached, writeCached } from './capability-cache.ts'
import { classifyFailure } from './classify-failure.ts'
import { codexEnvironment } from './codex-environment.ts'
import type { CodexSetup } from './codex-setup.ts'
import { identifyProgram } from './identify-program.ts'

export type KnownCodex =
  | ({ readonly kind: 'known' } & Capabilities)
  | { readonly kind: 'failed'; readonly failure: Failure }

type Within = { readonly timeoutMs: number; readonly signal: AbortSignal }

/** Asked once of each Codex and then remembered: a start of it costs more than all else that a review does before. */
export async function readCapabilities(setup: CodexSetup, folder: string, within: Within): Promise<KnownCodex> {
  const identity = identifyProgram(setup.program)
  if (identity === null) return notInstalled(`There is no Codex at ${setup.program}.`, install)
  const cached = setup.cacheDir === null ? null : readCached(setup.cacheDir, identity)
  if (cached !== null) return { kind: 'known', ...cached }
  const found = await askForHelp(setup, folder, within)
  if (found.kind === 'known' && setup.cacheDir !== null) writeCached(setup.cacheDir, identity, found)
  return found
}

const install = 'Install it: npm i -g @openai/codex; or use another reviewer.'

async function askForHelp(setup: CodexSetup, folder: string, within: Within): Promise<KnownCodex> {
  // A home of its own, so that a mistake in the user's configuration does not make a feature look unknown.
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
  const [exec, resume, features] = await Promise.all([
    run('exec', '--help'),
    run('exec', 'resume', '--help'),
    run('features', 'list'),
  ])
  const failed = [exec, resume].find((outcome) => outcome.kind !== 'ended' || outcome.exitCode !== 0)
  if (failed !== undefined) return { kind: 'failed', failure: explain(failed) }
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
  }
}

const textOf = (outcome: GroupOutcome): string =>
  outcome.kind === 'ended' && outcome.exitCode === 0 ? outcome.stdout : ''

function explain(outcome: GroupOutcome): Failure {
  switch (outcome.kind) {
    case 'cancelled':
      return { failure: 'cancelled', why: 'The review was stopped.', nextStep: 'Start it again.', retryAfterMs: null }
    case 'timed-out':
    case 'silent':
      return {
        failure: 'timeout',
        why: 'Codex did not even show its help in time.',
        nextStep: 'Try `codex exec --help` yourself; or use another reviewer.',
        retryAfterMs: null,
      }
    case 'ended':
    case 'killed-by':
    case 'stopped':
      return classifyFailure(outcome.stderr, [])?.failure ?? broken
    case 'not-found':
    case 'not-started':
      return broken
  }
}

const broken: Failure = {
  failure: 'not-installed',
  why: 'Codex does not run.',
  nextStep: 'Try `codex exec --help` yourself; reinstall it with npm i -g @openai/codex.',
  retryAfterMs: null,
}

const notInstalled = (why: string, nextStep: string): KnownCodex => ({
  kind: 'failed',
  failure: { failure: 'not-installed', why, nextStep, retryAfterMs: null },
})
