import type { Cell } from './judge-cell.ts'
import type { Table } from './run-table.ts'

/** How many cells ran, for each scene and each kind of fault. */
export function showTable({ cells, configured }: Table): string {
  const ran = cells.filter(({ hit }) => hit !== null)
  const wrong = ran.filter(({ problems }) => problems.length > 0)
  const kinds = [...new Set(ran.map(({ kind }) => kind))]
  const names = [...new Set(ran.map(({ scene }) => scene))]
  const width = Math.max(...names.map((name) => name.length), 5)
  const line = (name: string, of: readonly Cell[]): string =>
    [
      name.padEnd(width),
      ...kinds.map((kind) => numberOf(of, kind).padStart(kind.length)),
      String(of.length).padStart(6),
    ].join('  ')
  return [
    ['scene'.padEnd(width), ...kinds, ' cells'].join('  '),
    ...names.map((name) =>
      line(
        name,
        ran.filter(({ scene }) => scene === name),
      ),
    ),
    line('all', ran),
    `${ran.length} cells, ${wrong.length} of them wrong; ${configured - ran.length} more were ordered and not met.`,
  ].join('\n')
}

function numberOf(cells: readonly Cell[], kind: string): string {
  const count = cells.filter((cell) => cell.kind === kind).length
  return count === 0 ? '·' : String(count)
}

export const describeCell = ({ scene, kind, at, hit, problems }: Cell): string =>
  [
    `✗ ${scene}: ${kind}${at === null ? '' : ` at operation ${at} (${hit?.name} ${hit?.target})`}`,
    ...problems.map((problem) => `    ${problem.replaceAll('\n', '\n    ')}`),
  ].join('\n')
