/** The result for people. */
import type { Calibration, CellResult } from '../schemas/calibration.ts'
import { formatHours, inThousands } from './forecast.ts'
import { formatShare } from './recommend.ts'

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
    ...unsureNotes(result),
    ...heldNotes(result),
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

function unsureNotes({ cells, judge, rule }: Calibration): readonly string[] {
  const unsure = cells.reduce((sum, cell) => sum + cell.unsure, 0)
  const byCode = `Whether a finding is a hit is decided by place and words: ${rule.agreed} of ${rule.pairs} labelled pairs that these decide (they were chosen with most of these in view), kappa ${rule.kappa.toFixed(2)}.`
  const byJudge =
    judge === null
      ? []
      : [
          ...(judge.why === null ? [] : [`The judge, ${judge.route}, did not answer everything: ${judge.why}`]),
          ...(judge.pairs === 0 ? [] : [agreementOf(judge)]),
        ]
  const left =
    unsure === 0
      ? []
      : [
          `In ${unsure} reviews that did not decide it; they count as misses.${judge === null ? ' --judge <row> asks another reviewer.' : ''}`,
        ]
  return [byCode, ...byJudge, ...left]
}

const agreementOf = ({ route, agreed, pairs, kappa }: NonNullable<Calibration['judge']>): string =>
  `The judge, ${route}, agrees with ${agreed} of ${pairs} labelled pairs, kappa ${kappa.toFixed(2)}.${
    kappa < 0.6 ? ' That is too little to rely on it: choose another row.' : ''
  }`

const heldNotes = ({ bases }: Calibration): readonly string[] => [
  ...bases.flatMap(({ name, note }) => (note === null ? [] : [`${name}: ${note}.`])),
  ...bases.flatMap(({ name, is_held }) =>
    is_held
      ? [`${name}: its unchanged copy is held up in most reviews by all. Look at it: it may have a defect of its own.`]
      : [],
  ),
]

function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
  return rows.map((row) =>
    row
      .map((text, at) => text.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
