import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Cycle, Revision } from '../report/report-data.ts'
import validatePass from '../schemas/generated/kept-pass.js'
import validateResult from '../schemas/generated/review-result.js'
import type { KeptPass } from '../schemas/kept-pass.ts'
import type { LedgerEvent } from '../schemas/ledger-event.ts'
import type { ReviewResult } from '../schemas/review-result.ts'
import { checkFolder } from '../store/check-folder.ts'
import { listCycles } from '../store/history.ts'
import { readApproval } from '../store/read-approval.ts'
import { readEvents } from '../store/read-events.ts'
import { readJson } from '../store/read-json.ts'
import { reviewDir } from '../store/review-paths.ts'
import { listRevisions, readRevision } from '../store/revisions.ts'
import { sha256 } from '../store/sha256.ts'
import { eventsByCycle } from './events-by-cycle.ts'

type Redact = (text: string) => { kind: 'redacted'; text: string } | { kind: 'failed'; why: string }

type Reading = { readonly root: string; readonly redact: Redact; readonly problem: (words: string) => void }

/** Every cycle that there was, the current one last. What cannot be read is told, and the rest is read all the same. */
export function readCycles(reading: Reading): readonly Cycle[] {
  const { root, problem } = reading
  const read = readEvents(root)
  if (read.kind === 'refused') problem(`The ledger cannot be read: ${read.why}.`)
  const { ended, current } = eventsByCycle(read.kind === 'read' ? read.events : [])
  const kept = new Map(listCycles(root).map((cycle) => [cycle.cycle, cycle]))
  const numbers = [...new Set([...ended.keys(), ...kept.keys()])].filter(Number.isInteger).sort((a, b) => a - b)
  const past = numbers.map((cycle): Cycle => {
    const found = kept.get(cycle)
    const events = ended.get(cycle) ?? []
    return found === undefined
      ? { cycle, kind: 'lost', revisions: [], approval: null, events }
      : { cycle, kind: 'archived', ...readFolder(reading, found.folder, events), events }
  })
  const now = readFolder(reading, reviewDir, current)
  return [...past, { cycle: (numbers.at(-1) ?? 0) + 1, kind: 'current', ...now, events: current }]
}

function readFolder(
  reading: Reading,
  folder: string,
  events: readonly LedgerEvent[],
): Pick<Cycle, 'revisions' | 'approval'> {
  const approval = readApproval(reading.root, `${folder}/approval.json`)
  return {
    revisions: listRevisions(reading.root, folder).map(({ revision }) => readOne(reading, folder, revision, events)),
    approval: approval.kind === 'recorded' ? approval.approval : null,
  }
}

function readOne(
  { root, redact, problem }: Reading,
  folder: string,
  revision: number,
  events: readonly LedgerEvent[],
): Revision {
  const { snapshot, result } = readRevision(root, revision, folder)
  const about = (type: string) => events.findLast((event) => event.type === type && event.revision === revision)
  const submitted = about('revision-submitted')
  const bytes = snapshot.kind === 'read' ? snapshot.bytes : null
  if (snapshot.kind === 'refused') problem(`${snapshot.why}.`)
  const clean = bytes === null ? null : redact(bytes.toString('utf8'))
  if (clean?.kind === 'failed')
    problem(`Revision ${revision} is not shown: secrets in it cannot be blanked (${clean.why}).`)
  const hash = bytes === null ? null : sha256(bytes)
  const known = result.kind === 'read' && validateResult(result.value) ? result.value : null
  if (result.kind !== 'absent' && known === null) problem(`The result of revision ${revision} cannot be read.`)
  return {
    revision,
    text: clean?.kind === 'redacted' ? clean.text : null,
    plan_hash: hash,
    bytes: bytes?.length ?? 0,
    submitted_at: submitted?.at ?? null,
    reviewed_at: about('reviewed')?.at ?? null,
    result: known,
    why_none: known === null ? whyNone(result.kind !== 'absent', hash, events) : null,
    passes: readPasses(root, folder, revision, known, submitted),
  }
}

function whyNone(isThere: boolean, hash: string | null, events: readonly LedgerEvent[]): string {
  if (isThere) return 'Its result cannot be read.'
  const failed = events.findLast(({ type, plan_hash }) => type === 'review-unavailable' && plan_hash === hash)
  return failed === undefined
    ? 'There is no verdict on it yet.'
    : `No review came about (${failed.failure}): ${failed.why}`
}

function readPasses(
  root: string,
  folder: string,
  revision: number,
  result: ReviewResult | null,
  submitted: LedgerEvent | undefined,
): readonly KeptPass[] {
  const passes = `${folder}/passes`
  if (checkFolder(root, passes).kind !== 'folder') return []
  const since = submitted === undefined || result === null ? 0 : Date.parse(submitted.at)
  return readdirSync(join(root, passes))
    .flatMap((name) => {
      const [, of, asked] = /^plan_v(\d+)\.pass-(\d+)\.json$/.exec(name) ?? []
      return Number(of) === revision ? [{ name, asked: Number(asked) }] : []
    })
    .sort((a, b) => a.asked - b.asked)
    .flatMap(({ name }) => {
      const read = readJson(root, `${passes}/${name}`, validatePass)
      // A number is used again when its review gave no verdict; what is older than this review was about other bytes.
      const isOlder = lstatSync(join(root, passes, name)).mtimeMs < since
      return read.kind === 'read' && !isOlder ? [withoutAnswer(read.value)] : []
    })
}

/** What it answered is in the result already. */
const withoutAnswer = ({ pass, does, backend, outcome, why, duration_ms, tokens }: KeptPass): KeptPass => ({
  pass,
  does,
  backend,
  outcome,
  why,
  duration_ms,
  tokens,
})
