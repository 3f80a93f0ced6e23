import { listNames } from './list-names.ts'
import { type JsonRead, readJson, type Validator } from './read-json.ts'
import { type RegularRead, readRegular } from './read-regular.ts'
import { type RevisionPart, reviewDir, revisionPath } from './review-paths.ts'

export type Revision = { revision: number; parts: readonly RevisionPart[] }

export type RevisionRead = { snapshot: RegularRead; result: JsonRead<unknown>; annotated: RegularRead }

/** In ascending order. `folder` may be a cycle of the history. */
export function listRevisions(root: string, folder: string = reviewDir): readonly Revision[] {
  const parts = new Map<number, RevisionPart[]>()
  for (const name of listNames(root, folder)) {
    const match = /^plan_v([1-9]\d{0,5})\.(snapshot\.md|codex\.json|annotated\.md)$/.exec(name)
    if (!match) continue
    const revision = Number(match[1])
    parts.set(revision, [...(parts.get(revision) ?? []), match[2] as RevisionPart])
  }
  return [...parts].map(([revision, parts]) => ({ revision, parts })).sort((a, b) => a.revision - b.revision)
}

/** The form of a result is known to `review/`, which checks it before it is believed. */
export const readRevision = (root: string, revision: number, folder: string = reviewDir): RevisionRead => ({
  snapshot: readRegular(root, revisionPath(revision, 'snapshot.md', folder)),
  result: readJson(root, revisionPath(revision, 'codex.json', folder), anything),
  annotated: readRegular(root, revisionPath(revision, 'annotated.md', folder)),
})

const anything: Validator<unknown> = (value): value is unknown => value !== undefined
