import { pluralize } from '../../text/clean.ts'
import { type DiffFile, type Hunk, parseDiff } from '../../text/unified-diff.ts'
import { isSecurityPath } from '../complexity.ts'
import { type CountTokens, countUpTo } from '../tokens.ts'
import { asSentence, type Fitted, fitLines, leftOut, lineEndOf } from './lines.ts'

/**
 * Names every file with the size of its change, and keeps as many hunks as fit: of security-sensitive files first, of
 * generated ones last, and the smaller before the larger.
 */
export function fitDiff(text: string, budget: number, count: CountTokens): Fitted {
  const files = parseDiff(text)?.files ?? []
  const hunks = files.reduce((sum, file) => sum + file.hunks.length, 0)
  if (hunks === 0) return fitLines(text, budget, count)
  const eol = lineEndOf(text)
  const list = listFiles(files, budget / 2, eol, count)
  const available = budget - count(list) - headTokens
  const chosen = chooseHunks({ text, files, available, count })
  const shown = files.filter((file) => chosen.kept.has(file))
  const body = shown.map((file) => text.slice(file.start, file.headEnd) + hunksOf(text, file, chosen, eol)).join('')
  const keptHunks = [...chosen.kept.values()].reduce((sum, kept) => sum + kept.size, 0)
  const head = leftOut(`${hunks - keptHunks} of ${pluralize(hunks, 'hunk')}`)
  return { text: `${head}${eol}${list}${eol}${body}`, dropped: describeDropped(files, chosen) }
}

/** At most, of the first line and the empty ones. */
const headTokens = 30

/** As many names as fit, in the order of the diff; where not all of them fit, those of the larger changes. */
function listFiles(files: readonly DiffFile[], available: number, eol: string, count: CountTokens): string {
  const rows = files.map((file) => ({ file, row: `${file.path} +${file.added} -${file.removed}${eol}` }))
  const kept = new Set<DiffFile>()
  let left = available - 20
  const ordered = [...rows].sort((a, b) => rankOf(a.file) - rankOf(b.file) || sizeOf(b.file) - sizeOf(a.file))
  for (const { file, row } of ordered) {
    left -= count(row)
    if (left < 0) break
    kept.add(file)
  }
  const names = rows.filter(({ file }) => kept.has(file)).map(({ row }) => row)
  const omitted = rows.filter(({ file }) => !kept.has(file)).map(({ file }) => file)
  if (omitted.length === 0) return `${pluralize(files.length, 'file')} in all:${eol}${names.join('')}`
  const [added, removed] = [sum(omitted, 'added'), sum(omitted, 'removed')]
  const rest = `and ${omitted.length} more +${added} -${removed}`
  return `${pluralize(files.length, 'file')} in all:${eol}${names.join('')}${rest}${eol}`
}

const sum = (files: readonly DiffFile[], key: 'added' | 'removed'): number =>
  files.reduce((total, file) => total + file[key], 0)
const sizeOf = ({ added, removed }: DiffFile): number => added + removed

/** Long files that nobody reviews. */
const generated = [
  /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|go\.sum)$/,
  /(^|\/)(dist|build|vendor|node_modules|__snapshots__|generated)\//,
  /\.(lock|min\.js|min\.css|map|snap|svg)$/,
]

const rankOf = ({ path }: DiffFile): number => {
  if (generated.some((pattern) => pattern.test(path))) return 2
  return isSecurityPath(path) ? 0 : 1
}

type HunkChoice = {
  readonly text: string
  readonly files: readonly DiffFile[]
  readonly available: number
  readonly count: CountTokens
}
type ChosenHunks = {
  readonly kept: ReadonlyMap<DiffFile, ReadonlySet<Hunk>>
  /** A hunk that is too long by itself, shortened. */
  readonly cut: { readonly hunk: Hunk; readonly text: string } | null
}

function chooseHunks({ text, files, available, count }: HunkChoice): ChosenHunks {
  const kept = new Map<DiffFile, Set<Hunk>>()
  const ordered = byImportance(files)
  let left = available
  let fullRank: number | null = null
  let tooLong: Ranked | null = null
  for (const ranked of ordered) {
    const { file, hunk, rank } = ranked
    // The hunks of this rank that follow are longer.
    if (rank === fullRank) continue
    const content = text.slice(hunk.start, hunk.end)
    const cost = headCost(text, file, kept, count) + countUpTo(content, left, count)
    if (cost <= left) {
      left -= cost
      kept.set(file, (kept.get(file) ?? new Set()).add(hunk))
      continue
    }
    fullRank = rank
    if (countUpTo(content, available, count) > available) tooLong ??= ranked
  }
  const toCut = kept.size === 0 ? ordered[0] : left > available / 4 ? tooLong : null
  if (toCut === undefined || toCut === null) return { kept, cut: null }
  const { file, hunk } = toCut
  const content = text.slice(hunk.start, hunk.end)
  const bodyStart = content.indexOf('\n') + 1
  const head = content.slice(0, bodyStart)
  left -= headCost(text, file, kept, count) + count(head)
  if (left < minCutTokens) return { kept, cut: null }
  kept.set(file, (kept.get(file) ?? new Set()).add(hunk))
  return { kept, cut: { hunk, text: head + fitLines(content.slice(bodyStart), left, count).text } }
}

/** Less of a hunk is of no use. */
const minCutTokens = 60

/** The head of a file counts with its first hunk. */
const headCost = (text: string, file: DiffFile, kept: ReadonlyMap<DiffFile, unknown>, count: CountTokens): number =>
  kept.has(file) ? 0 : count(text.slice(file.start, file.headEnd))

type Ranked = { readonly file: DiffFile; readonly hunk: Hunk; readonly rank: number }

const byImportance = (files: readonly DiffFile[]): Ranked[] =>
  files
    .flatMap((file) => file.hunks.map((hunk): Ranked => ({ file, hunk, rank: rankOf(file) })))
    .sort((a, b) => a.rank - b.rank || lengthOf(a.hunk) - lengthOf(b.hunk) || a.hunk.start - b.hunk.start)

const lengthOf = ({ start, end }: Hunk): number => end - start

const hunksOf = (text: string, file: DiffFile, { kept, cut }: ChosenHunks, eol: string): string =>
  file.hunks
    .filter((hunk) => kept.get(file)?.has(hunk))
    .map((hunk) => (hunk === cut?.hunk ? cut.text : text.slice(hunk.start, hunk.end)))
    .map((hunk) => (hunk.endsWith('\n') ? hunk : `${hunk}${eol}`))
    .join('')

function describeDropped(files: readonly DiffFile[], { kept, cut }: ChosenHunks): string {
  const gone = files.map((file) => file.hunks.length - (kept.get(file)?.size ?? 0))
  const hunks = files.reduce((total, file) => total + file.hunks.length, 0)
  const [missing, touched] = [gone.reduce((a, b) => a + b, 0), gone.filter((number) => number > 0).length]
  const parts = [
    ...(missing > 0
      ? [`${missing} of ${pluralize(hunks, 'hunk')} left out, in ${touched} of ${pluralize(files.length, 'file')}`]
      : []),
    ...(cut === null ? [] : ['one hunk, too long by itself, shortened']),
  ]
  return asSentence(parts.length === 0 ? ['what is no hunk was left out'] : parts)
}
