import { isSecurityPath } from '../complexity/is-security-path.ts'
import { fitLines } from './fit-lines.ts'
import type { Count, Fitted } from './fitted.ts'
import { countUpTo } from './is-within.ts'
import { asSentence, counted, leftOut, lineEndOf } from './left-out.ts'
import { type FileDiff, type Hunk, readHunks } from './read-hunks.ts'

/**
 * Every file by its name and the size of its change, and of the hunks as many as there is room for: of
 * security-sensitive files first, of generated ones last, and the smaller before the larger.
 */
export function fitDiff(text: string, budget: number, count: Count): Fitted {
  const files = readHunks(text)
  const hunks = files.reduce((sum, file) => sum + file.hunks.length, 0)
  if (hunks === 0) return fitLines(text, budget, count)
  const eol = lineEndOf(text)
  const list = listFiles(files, budget / 2, eol, count)
  const room = budget - count(list) - headRoom
  const chosen = choose({ text, files, room, count })
  const shown = files.filter((file) => chosen.kept.has(file))
  const body = shown.map((file) => text.slice(file.start, file.headEnd) + hunksOf(text, file, chosen, eol)).join('')
  const keptHunks = [...chosen.kept.values()].reduce((sum, kept) => sum + kept.size, 0)
  const head = leftOut(`${hunks - keptHunks} of ${counted(hunks, 'hunk')}`)
  return {
    text: `${head}${eol}${list}${eol}${body}`,
    dropped: describe(files, chosen),
  }
}

/** What the first line and the empty ones cost at most. */
const headRoom = 30

/** As many names as there is room for, in the order of the diff; where that is not all of them, the larger changes. */
function listFiles(files: readonly FileDiff[], room: number, eol: string, count: Count): string {
  const rows = files.map((file) => ({ file, row: `${file.path} +${file.added} -${file.removed}${eol}` }))
  const kept = new Set<FileDiff>()
  let left = room - 20
  const ordered = [...rows].sort((a, b) => rankOf(a.file) - rankOf(b.file) || sizeOf(b.file) - sizeOf(a.file))
  for (const { file, row } of ordered) {
    left -= count(row)
    if (left < 0) break
    kept.add(file)
  }
  const names = rows.filter(({ file }) => kept.has(file)).map(({ row }) => row)
  const gone = rows.filter(({ file }) => !kept.has(file)).map(({ file }) => file)
  if (gone.length === 0) return `${counted(files.length, 'file')} in all:${eol}${names.join('')}`
  const [added, removed] = [sum(gone, 'added'), sum(gone, 'removed')]
  const rest = `and ${gone.length} more +${added} -${removed}`
  return `${counted(files.length, 'file')} in all:${eol}${names.join('')}${rest}${eol}`
}

const sum = (files: readonly FileDiff[], key: 'added' | 'removed'): number =>
  files.reduce((total, file) => total + file[key], 0)
const sizeOf = ({ added, removed }: FileDiff): number => added + removed

/** Nobody reads these, and they are long. */
const generated = [
  /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|go\.sum)$/,
  /(^|\/)(dist|build|vendor|node_modules|__snapshots__|generated)\//,
  /\.(lock|min\.js|min\.css|map|snap|svg)$/,
]

const rankOf = ({ path }: FileDiff): number => {
  if (generated.some((pattern) => pattern.test(path))) return 2
  return isSecurityPath(path) ? 0 : 1
}

type Choice = {
  readonly text: string
  readonly files: readonly FileDiff[]
  readonly room: number
  readonly count: Count
}
type Chosen = {
  readonly kept: ReadonlyMap<FileDiff, ReadonlySet<Hunk>>
  /** A hunk that is too long by itself, as much of it as there is room for. */
  readonly cut: { readonly hunk: Hunk; readonly text: string } | null
}

function choose({ text, files, room, count }: Choice): Chosen {
  const kept = new Map<FileDiff, Set<Hunk>>()
  const ordered = byImportance(files)
  let left = room
  let full: number | null = null
  let tooLong: Ranked | null = null
  for (const ranked of ordered) {
    const { file, hunk, rank } = ranked
    // What follows in its rank is longer still.
    if (rank === full) continue
    const content = text.slice(hunk.start, hunk.end)
    const cost = headCost(text, file, kept, count) + countUpTo(content, left, count)
    if (cost <= left) {
      left -= cost
      kept.set(file, (kept.get(file) ?? new Set()).add(hunk))
      continue
    }
    full = rank
    if (countUpTo(content, room, count) > room) tooLong ??= ranked
  }
  const toCut = kept.size === 0 ? ordered[0] : left > room / 4 ? tooLong : null
  if (toCut === undefined || toCut === null) return { kept, cut: null }
  const { file, hunk } = toCut
  const content = text.slice(hunk.start, hunk.end)
  const bodyStart = content.indexOf('\n') + 1
  const head = content.slice(0, bodyStart)
  left -= headCost(text, file, kept, count) + count(head)
  if (left < leastToCut) return { kept, cut: null }
  kept.set(file, (kept.get(file) ?? new Set()).add(hunk))
  return { kept, cut: { hunk, text: head + fitLines(content.slice(bodyStart), left, count).text } }
}

/** Less than this of a hunk tells nobody anything. */
const leastToCut = 60

/** The lines that name a file are paid for by the first of its hunks. */
const headCost = (text: string, file: FileDiff, kept: ReadonlyMap<FileDiff, unknown>, count: Count): number =>
  kept.has(file) ? 0 : count(text.slice(file.start, file.headEnd))

type Ranked = { readonly file: FileDiff; readonly hunk: Hunk; readonly rank: number }

const byImportance = (files: readonly FileDiff[]): Ranked[] =>
  files
    .flatMap((file) => file.hunks.map((hunk): Ranked => ({ file, hunk, rank: rankOf(file) })))
    .sort((a, b) => a.rank - b.rank || lengthOf(a.hunk) - lengthOf(b.hunk) || a.hunk.start - b.hunk.start)

const lengthOf = ({ start, end }: Hunk): number => end - start

const hunksOf = (text: string, file: FileDiff, { kept, cut }: Chosen, eol: string): string =>
  file.hunks
    .filter((hunk) => kept.get(file)?.has(hunk))
    .map((hunk) => (hunk === cut?.hunk ? cut.text : text.slice(hunk.start, hunk.end)))
    .map((hunk) => (hunk.endsWith('\n') ? hunk : `${hunk}${eol}`))
    .join('')

function describe(files: readonly FileDiff[], { kept, cut }: Chosen): string {
  const gone = files.map((file) => file.hunks.length - (kept.get(file)?.size ?? 0))
  const hunks = files.reduce((total, file) => total + file.hunks.length, 0)
  const [missing, touched] = [gone.reduce((a, b) => a + b, 0), gone.filter((number) => number > 0).length]
  const parts = [
    ...(missing > 0
      ? [`${missing} of ${counted(hunks, 'hunk')} left out, in ${touched} of ${counted(files.length, 'file')}`]
      : []),
    ...(cut === null ? [] : ['one hunk, too long by itself, shortened']),
  ]
  return asSentence(parts.length === 0 ? ['what is no hunk was left out'] : parts)
}
