import { cpus } from 'node:os'
import { sources } from './grammar/documented.ts'
import { shells } from './oracle/shells.ts'
import { hasYamlReaders } from './oracle/yaml-readers.ts'
import type { Outcome } from './run-targets.ts'
import type { Confirmed } from './target.ts'

type Named = Confirmed & { readonly name: string }

/** A run as a table, for people and for the record. */
export function reportOf(outcomes: readonly Outcome[], confirmed: readonly Named[], seed: number): string {
  const head = [
    'target',
    'inputs',
    'per second',
    'code reached',
    'allowed',
    'different',
    'really run',
    'contradictions',
  ]
  const rows = outcomes.map(({ name, inputs, seconds, blocks, figures, found, failures }) => {
    const real = confirmed.find((one) => one.name === name)
    return [
      name,
      counted(inputs),
      counted(inputs / Math.max(1, seconds)),
      blocks.of === 0 ? '-' : `${Math.round((100 * blocks.reached) / blocks.of)} %`,
      figures.allowed === undefined ? '-' : counted(figures.allowed),
      found.length === 0 ? '-' : counted(found.length),
      real === undefined ? '-' : counted(real.ran),
      counted(failures.length + (real?.failures.length ?? 0)),
    ]
  })
  const sum = outcomes.reduce((total, { inputs }) => total + inputs, 0)
  const more = outcomes.flatMap(({ name, figures: { allowed: _, ...figures } }) =>
    Object.entries(figures).map(([what, count]) => `${name}: ${counted(count)} ${what}`),
  )
  return [
    `\nnpm run fuzz, seed ${seed}, node ${process.version}, ${cpus().length} cores, ${new Date().toISOString().slice(0, 10)}\n`,
    table([head, ...rows]),
    `\n${counted(sum)} inputs in all.`,
    ...more,
    ...confirmed.map(({ name, how }) => `${name}: ${how}`),
    `The shells are ${shells.map(({ name }) => name).join(', ')}; Bun and js-yaml ${hasYamlReaders() ? 'read YAML as well' : 'are MISSING'}.`,
    `Commands are made from the documents of ${sources().join(', ')}.`,
  ].join('\n')
}

const counted = (count: number): string => Math.round(count).toLocaleString('en-US')

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
  return rows.map(line).join('\n')
}
