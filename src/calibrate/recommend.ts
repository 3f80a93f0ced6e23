import type { Route } from '../reviewers/route-table.ts'
import type { Calibration, CellResult } from '../schemas/calibration.ts'
import { present } from '../text/clean.ts'
import { type Cell, formatHours, inThousands } from './run.ts'
import { fewBases, isApart, type Share } from './statistics.ts'

type Comparison = Calibration['comparisons'][number]

const formatShare = ({ share, low, high }: Share): string =>
  share === null ? '–' : `${share.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`

export function compareCells(cells: readonly CellResult[]): readonly Comparison[] {
  const measured = cells.filter(({ recall }) => recall.share !== null)
  return measured.flatMap((one, at) =>
    measured.slice(at + 1).map((other) => {
      const apart = isApart(one.recall, other.recall)
      const [better, worse] = (one.recall.share ?? 0) >= (other.recall.share ?? 0) ? [one, other] : [other, one]
      const words = apart
        ? `${better.name} finds more than ${worse.name}: ${formatShare(better.recall)} and ${formatShare(worse.recall)}.${falseBlocksOf(better, worse)}`
        : `${one.name} and ${other.name} cannot be distinguished: ${formatShare(one.recall)} and ${formatShare(other.recall)}. ${moreOf(one, other)}`
      return { one: one.name, other: other.name, is_apart: apart, words }
    }),
  )
}

const falseBlocksOf = (better: CellResult, worse: CellResult): string =>
  isApart(better.false_blocks, worse.false_blocks) && (better.false_blocks.share ?? 0) > (worse.false_blocks.share ?? 0)
    ? ` It also holds up more for nothing: ${formatShare(better.false_blocks)} and ${formatShare(worse.false_blocks)}.`
    : ''

/** From fewer independent cases no order follows, whatever the figures are. */
const minCases = 20
const whatItTakes = `it takes ${minCases} or more for each, so more plans (--plans) or more classes`
const isTooFew = ({ recall }: CellResult): boolean => recall.effective < minCases

export function notesOn(cells: readonly CellResult[], type: Calibration['type']): readonly string[] {
  const measured = cells.filter(({ recall }) => recall.share !== null)
  const few = measured.filter(isTooFew).map(({ name, recall }) => `${name} about ${Math.round(recall.effective)}`)
  const bases = Math.max(0, ...measured.map(({ recall }) => recall.bases))
  const texts = type === 'plan' ? 'plans' : 'changes'
  const ofOne = bases === 1
  return present(
    bases > 0 &&
      bases < fewBases &&
      `All copies are of ${bases} ${ofOne ? (type === 'plan' ? 'plan' : 'change') : texts}: the intervals are about ${ofOne ? 'it' : 'these'} only, and not about other ${texts}.`,
    few.length > 0
      ? `No order is proposed: of independent cases, ${few.join(' and ')}; ${whatItTakes}.`
      : measured.length > 0 &&
          measured.every(({ recall }) => recall.hits === 0) &&
          'No order is proposed: nobody found anything.',
  )
}

function moreOf(one: CellResult, other: CellResult): string {
  if (isTooFew(one) || isTooFew(other))
    return `That is from about ${Math.round(Math.min(one.recall.effective, other.recall.effective))} independent cases, and says nothing: ${whatItTakes}.`
  if (one.recall.hits + other.recall.hits === 0) return 'Neither found anything.'
  if (Math.abs((one.recall.share ?? 0) - (other.recall.share ?? 0)) < 0.005) return 'They are as good as the same.'
  return 'It would take more plans or classes, or more repeats where these differ.'
}

/** Proven to find more and not proven to hold up more for nothing; or as good, and proven to hold up less. */
const isBetter = (one: CellResult, other: CellResult): boolean => {
  const [finds, holds] = [isApart(one.recall, other.recall), isApart(one.false_blocks, other.false_blocks)]
  const findsMore = finds && (one.recall.share ?? 0) > (other.recall.share ?? 0)
  const holdsMore = holds && (one.false_blocks.share ?? 0) > (other.false_blocks.share ?? 0)
  const holdsLess = holds && (one.false_blocks.share ?? 0) < (other.false_blocks.share ?? 0)
  return (findsMore && !holdsMore) || (!finds && holdsLess)
}

/** Cheaper where both prices are known, otherwise faster. */
function isCheaper(one: CellResult, other: CellResult): number {
  const perReview = ({ dollars, reviews }: CellResult): number | null =>
    dollars === null || reviews === 0 ? null : dollars / reviews
  const [a, b] = [perReview(one), perReview(other)]
  if (a !== null && b !== null && a !== b) return a - b
  return (one.seconds ?? 0) - (other.seconds ?? 0)
}

function orderCells(cells: readonly CellResult[]): readonly CellResult[] {
  const ordered: CellResult[] = []
  let left = [...cells]
  while (left.length > 0) {
    const unbeaten = left.filter((one) => !left.some((other) => isBetter(other, one)))
    const [next] = (unbeaten.length > 0 ? unbeaten : left).sort(isCheaper)
    if (next === undefined) break
    ordered.push(next)
    left = left.filter((one) => one !== next)
  }
  return ordered
}

export function proposeRoutes(results: readonly CellResult[], cells: readonly Cell[]): Calibration['proposal'] {
  const measured = results.filter(({ recall }) => recall.share !== null)
  if (measured.some(isTooFew) || measured.every(({ recall }) => recall.hits === 0)) return null
  const ordered = orderCells(measured)
  const [best] = ordered
  if (best === undefined) return null
  const names = [...new Set(ordered.map(({ route }) => route))]
  const routes = names.flatMap((name) => cells.find(({ route }) => route.name === name)?.route ?? [])
  const rows = routes.map((route, at) => `    - ${JSON.stringify(asRow(route, at === routes.length - 1))}`)
  const effort =
    best.effort === 'auto'
      ? []
      : [`  effort: ${JSON.stringify({ understand: best.effort, find: best.effort, verify: best.effort })}`]
  const readers = best.readers === null ? [] : [`  readers: ${best.readers}`]
  return {
    yaml: ['review:', '  routes:', ...rows, ...effort, ...readers].join('\n'),
    why: ordered.map((one, at) => reasonFor(one, ordered[at + 1])),
  }
}

function reasonFor(one: CellResult, next: CellResult | undefined): string {
  const what = `${one.name}: finds ${formatShare(one.recall)}, holds up for nothing ${formatShare(one.false_blocks)}`
  if (next === undefined) return `${what}.`
  if (isBetter(one, next)) return `${what}; proven better than ${next.name}.`
  const isPriced = one.dollars !== null && next.dollars !== null && isCheaper(one, next) !== 0
  return `${what}; not proven better than ${next.name}, and stands before it because it is ${isPriced ? 'cheaper' : 'faster'}.`
}

function asRow(
  { name, backend, model, endpoint, price, when, capabilities, timeoutMs, retries }: Route,
  isLast: boolean,
) {
  return {
    ...(name === backend ? {} : { name }),
    backend,
    ...(model === null ? {} : { model }),
    ...(endpoint === null ? {} : asEndpoint(endpoint)),
    ...(price === null ? {} : { price }),
    when,
    capabilities,
    fail_mode: isLast ? 'hard_fail' : 'fallthrough',
    ...(timeoutMs === null ? {} : { timeout: timeoutMs / 1000 }),
    ...(retries === 0 ? {} : { retries }),
  }
}

const asEndpoint = ({ baseUrl, apiKeyEnv, api, allowHttp }: NonNullable<Route['endpoint']>) => ({
  ...(baseUrl === null ? {} : { base_url: baseUrl }),
  ...(apiKeyEnv === null ? {} : { api_key_env: apiKeyEnv }),
  ...(api === 'auto' ? {} : { api }),
  ...(allowHttp ? { allow_http: true } : {}),
})

type Paint = (style: 'bold' | 'dim' | 'yellow', text: string) => string

export function formatCalibration(result: Calibration, paint: Paint): readonly string[] {
  const { cells, type, comparisons, proposal } = result
  const what = type === 'plan' ? 'plans' : 'changes'
  return [
    paint(
      'bold',
      `${result.defects} ${result.defects === 1 ? 'copy' : 'copies'} of ${what} with one defect, ${result.controls} without, each ${result.complete ? '' : 'to be '}reviewed ${times(result.repeat)}`,
    ),
    ...(result.complete ? [] : [paint('yellow', `Not complete: ${result.why}`)]),
    '',
    ...columns([
      ['', 'found', 'held up', 'held up for nothing', 'time', 'tokens', 'questions', 'cost', 'reviews'],
      ...cells.map(rowOf),
    ]),
    '',
    ...columns([['by class', ...cells.map(({ name }) => name)], ...classRows(cells)]),
    '',
    paint('dim', intervalNote),
    ...result.notes,
    ...hitNotes(result),
    ...(comparisons.length === 0 ? [] : ['', ...comparisons.map(({ words }) => words)]),
    ...(proposal === null ? [] : ['', ...proposal.why, '', paint('bold', 'For plan-gate.yaml:'), proposal.yaml]),
  ]
}

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`)

const intervalNote =
  'In brackets: the 95 % interval (Wilson, with continuity correction), on a sample that counts repeats of one case and ' +
  'cases of one text as less than independent reviews, by how much they are alike.'

const rowOf = (cell: CellResult): readonly string[] => [
  cell.name,
  formatShare(cell.recall),
  formatShare(cell.held),
  formatShare(cell.false_blocks),
  cell.seconds === null ? '–' : formatHours(cell.seconds),
  cell.tokens === null ? '–' : inThousands(cell.tokens),
  cell.calls === null ? '–' : String(cell.calls),
  cell.dollars === null ? '–' : `$${cell.dollars.toFixed(2)}`,
  `${cell.reviews}${cell.failed === 0 ? '' : `, ${cell.failed} failed`}`,
]

function classRows(cells: readonly CellResult[]): readonly (readonly string[])[] {
  const names = [...new Set(cells.flatMap(({ classes }) => classes.map((each) => each.class)))]
  return names.map((name) => [
    name,
    ...cells.map(({ classes }) => {
      const own = classes.find((each) => each.class === name)
      return own === undefined ? '–' : `${formatShare(own.recall)} of ${own.recall.of}`
    }),
  ])
}

function hitNotes({ cells, judge, rule, bases }: Calibration): readonly string[] {
  const unsure = cells.reduce((sum, cell) => sum + cell.unsure, 0)
  return present(
    `Whether a finding is a hit is decided by place and words: ${rule.agreed} of ${rule.pairs} labelled pairs that these decide (they were chosen with most of these in view), kappa ${rule.kappa.toFixed(2)}.`,
    judge?.why && `The judge, ${judge.route}, did not answer everything: ${judge.why}`,
    judge !== null && judge.pairs > 0 && agreementOf(judge),
    unsure > 0 &&
      `In ${unsure} reviews that did not decide it; they count as misses.${judge === null ? ' --judge <row> asks another reviewer.' : ''}`,
    bases.map(({ name, note }) => note !== null && `${name}: ${note}.`),
    bases.map(
      ({ name, is_held }) =>
        is_held &&
        `${name}: its unchanged copy is held up in most reviews by all. Look at it: it may have a defect of its own.`,
    ),
  )
}

const agreementOf = ({ route, agreed, pairs, kappa }: NonNullable<Calibration['judge']>): string =>
  `The judge, ${route}, agrees with ${agreed} of ${pairs} labelled pairs, kappa ${kappa.toFixed(2)}.${
    kappa < 0.6 ? ' That is too little to rely on it: choose another row.' : ''
  }`

function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
  return rows.map((row) =>
    row
      .map((text, at) => text.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
