import { counted, formatCount, formatDuration } from './format-values.ts'
import type { ReportData } from './report-data.ts'
import { costOf, sumCosts } from './sum-costs.ts'
import type { CycleView } from './view-cycles.ts'

export type Fact = {
  readonly name: string
  readonly value: string
  readonly note: string
  readonly tone: 'good' | 'bad' | 'plain'
}

/** The numbers that a reader asks for first. */
export function listFacts(data: ReportData, views: readonly CycleView[]): readonly Fact[] {
  const revisions = views.flatMap((view) => view.revisions)
  const { ms, tokens } = sumCosts(revisions.map(({ revision }) => costOf(revision)))
  const denials = data.sessions.reduce((sum, session) => sum + session.denials.length, 0)
  return [
    revisionsFact(data, views),
    findingsFact(views),
    plain('Time in review', formatDuration(ms), counted(revisions.length, 'revision')),
    tokens === null
      ? plain('Tokens', '–', 'nobody counted any')
      : plain('Tokens', formatCount(tokens), 'in and out, all passes'),
    ...secondLooks(data),
    plain('Calls denied', formatCount(denials), `in ${counted(data.sessions.length, 'session')}`),
    recordFact(data),
  ]
}

const plain = (name: string, value: string, note: string): Fact => ({ name, value, note, tone: 'plain' })

function revisionsFact({ limit }: ReportData, views: readonly CycleView[]): Fact {
  const current = views.at(-1)
  const reviewed = (current?.revisions ?? []).filter(({ revision }) => revision.result !== null).length
  const all = views.reduce((sum, view) => sum + view.revisions.length, 0)
  const value = limit === null ? formatCount(reviewed) : `${formatCount(reviewed)} of ${formatCount(limit)}`
  const note =
    views.length > 1 ? `in cycle ${current?.cycle.cycle ?? 0}; ${formatCount(all)} in all cycles` : 'in this cycle'
  return plain('Revisions reviewed', value, note)
}

function findingsFact(views: readonly CycleView[]): Fact {
  const fates = views.flatMap(({ traces }) => traces.map(({ fate }) => fate))
  const open = (views.at(-1)?.traces ?? []).filter(({ fate }) => fate === 'open').length
  const fixed = fates.filter((fate) => fate === 'fixed').length
  return plain('Findings open', formatCount(open), `${formatCount(fates.length)} in all, ${formatCount(fixed)} fixed`)
}

/** Of the reviewer that follows the implementation, where there is one. */
function secondLooks({ cycles }: ReportData): readonly Fact[] {
  const looks = cycles.flatMap(({ events }) => events.filter(({ type }) => type === 'reflected'))
  if (looks.length === 0) return []
  const failed = looks.filter(({ verdict }) => verdict === 'FAIL').length
  const tokens = looks.reduce((sum, look) => sum + (typeof look.tokens === 'number' ? look.tokens : 0), 0)
  return [
    plain('Second looks', formatCount(looks.length), `${formatCount(failed)} FAIL, ${formatCount(tokens)} tokens`),
  ]
}

function recordFact({ checks }: ReportData): Fact {
  const broken = checks.filter(({ holds }) => !holds).length
  return broken === 0
    ? { name: 'Record', value: 'holds', note: counted(checks.length, 'check'), tone: 'good' }
    : {
        name: 'Record',
        value: 'does not hold',
        note: `${formatCount(broken)} of ${counted(checks.length, 'check')}`,
        tone: 'bad',
      }
}
