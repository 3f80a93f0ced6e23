import { cpus } from 'node:os'
import type { ForReal } from './check-for-real.ts'
import { shells } from './oracle/shells.ts'
import type { Outcome } from './run-targets.ts'

/** A run as a table, for people and for the record. */
export function reportOf(outcomes: readonly Outcome[], real: ForReal | null, seed: number): string {
  const rows = outcomes.map(({ name, inputs, seconds, kept, blocks, failures }) => [
    name,
    counted(inputs),
    counted(inputs / Math.max(1, seconds)),
    counted(kept),
    blocks.of === 0 ? '-' : `${Math.round((100 * blocks.reached) / blocks.of)} %`,
    String(failures.length),
  ])
  const sum = outcomes.reduce((total, { inputs }) => total + inputs, 0)
  const figures = outcomes.flatMap(({ name, figures }) =>
    Object.entries(figures).map(([what, count]) => `${name}: ${counted(count)} ${what}`),
  )
  return [
    `\nnpm run fuzz, seed ${seed}, node ${process.version}, ${cpus().length} cores, ${new Date().toISOString().slice(0, 10)}\n`,
    table([['target', 'inputs', 'per second', 'kept', 'code reached', 'failures'], ...rows]),
    `\n${counted(sum)} inputs in all.`,
    ...figures,
    ...(real === null ? [] : [forReal(real)]),
  ].join('\n')
}

const counted = (count: number): string => Math.round(count).toLocaleString('en-US')

const forReal = ({ runs, toolboxes, watched, isSandboxed, failures }: ForReal): string =>
  [
    `The shells are ${shells.map(({ name }) => name).join(', ')}.`,
    `${counted(runs)} allowed lines of different shapes were run in a real bash (with the tools of ${toolboxes.join(', ')}), ${isSandboxed ? 'in' : 'WITHOUT'} a sandbox,`,
    `${watched ? 'with strace' : 'WITHOUT strace'}: ${failures.length} wrote, started another program or did not end.`,
  ].join(' ')

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
  return rows.map(line).join('\n')
}
