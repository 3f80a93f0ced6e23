import { programOf } from './choose-cells.ts'
import type { Cell } from './judge-cell.ts'

/** Faults of one sort share a column; whatever is in none stands in the last. */
const columns: readonly { readonly name: string; readonly holds: (kind: string) => boolean }[] = [
  ...['ENOSPC', 'EACCES', 'EIO', 'EMFILE', 'EROFS'].map((errno) => ({
    name: errno,
    holds: (kind: string) => kind === errno || kind === `${errno} on`,
  })),
  { name: 'killed', holds: (kind) => ['SIGKILL', 'SIGTERM', 'child killed'].includes(kind) },
  { name: 'clock', holds: (kind) => kind.startsWith('clock ') },
  { name: 'real disk', holds: (kind) => /^a full disk|^a read-only/.test(kind) },
  { name: 'surroundings', holds: () => true },
]

/** How many cells ran, for each program and each sort of fault. */
export function showTable(cells: readonly Cell[], ordered = cells.length): string {
  const ran = cells.filter(({ hit }) => hit !== null)
  const wrong = ran.filter(({ problems }) => problems.length > 0)
  const programs = [...new Set(ran.map(({ scene }) => programOf(scene)))]
  const width = Math.max(...programs.map((name) => name.length), 'program'.length)
  const row = (name: string, of: readonly Cell[]): string =>
    [
      name.padEnd(width),
      ...columns.map((column) => numberIn(of, column.name).padStart(column.name.length)),
      String(of.length).padStart('cells'.length),
      String(of.filter(({ problems }) => problems.length > 0).length).padStart('wrong'.length),
    ].join('  ')
  return [
    ['program'.padEnd(width), ...columns.map(({ name }) => name), 'cells', 'wrong'].join('  '),
    ...programs.map((name) =>
      row(
        name,
        ran.filter((cell) => programOf(cell.scene) === name),
      ),
    ),
    row('all', ran),
    `${ran.length} cells really ran, ${wrong.length} of them wrong; ${cells.length - ran.length} more were ordered, and their fault did not come about.`,
    ...(ordered > cells.length ? [`${ordered - cells.length} of ${ordered} were not tried yet.`] : []),
  ].join('\n')
}

const columnOf = (kind: string): string => columns.find(({ holds }) => holds(kind))?.name ?? ''

function numberIn(cells: readonly Cell[], column: string): string {
  const count = cells.filter(({ kind }) => columnOf(kind) === column).length
  return count === 0 ? '·' : String(count)
}

export const describeCell = ({ scene, kind, at, hit, problems }: Cell): string =>
  [
    `✗ ${scene}: ${kind}${at === null ? '' : ` at operation ${at}`} (${hit?.name} ${hit?.target})`,
    ...problems.map((problem) => `    ${problem.replaceAll('\n', '\n    ')}`),
  ].join('\n')
