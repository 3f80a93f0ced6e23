import { gitOrNull } from '../../src/system/git.ts'
import type { Finishable } from './find-finishable.ts'

/** Where commits count as merged. `name` is for people. */
export type MergeTarget = { name: string; rev: string }

/** The branch that the work started from, the one of the main checkout, and what both follow elsewhere. */
export async function mergeTargets({ repository, listed, opened }: Finishable): Promise<MergeTarget[]> {
  const cwd = repository.commonDir
  const main = (await gitOrNull(cwd, ['symbolic-ref', '--quiet', 'HEAD']))?.trim() ?? null
  const branches = [opened.base, main].filter((ref) => ref !== null)
  const followed = await Promise.all(branches.map((ref) => upstreamOf(cwd, ref)))
  const own = `refs/heads/${listed.branch}`
  const refs = [...new Set([...branches, ...followed.flat()])].filter((ref) => ref !== own)
  const known = await Promise.all(refs.map(async (ref) => ((await exists(cwd, ref)) ? [ref] : [])))
  const targets = known.flat().map((ref) => ({ name: ref.replace(/^refs\/(heads|remotes)\//, ''), rev: ref }))
  // On no branch: the commit that the main checkout is at.
  const isDetached = main === null && (await exists(cwd, 'HEAD'))
  return isDetached ? [...targets, { name: 'HEAD of the main checkout', rev: 'HEAD' }] : targets
}

async function upstreamOf(cwd: string, ref: string): Promise<string[]> {
  const found = await gitOrNull(cwd, ['for-each-ref', '--format=%(upstream)', ref])
  return (found ?? '').split('\n').filter((line) => line !== '')
}

const exists = async (cwd: string, rev: string): Promise<boolean> =>
  (await gitOrNull(cwd, ['rev-parse', '--verify', '--quiet', `${rev}^{commit}`])) !== null
