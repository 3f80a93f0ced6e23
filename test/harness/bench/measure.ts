import { spawnSync } from 'node:child_process'

export type Program = {
  name: string
  file: string
  args: readonly string[]
  input?: string
  env?: NodeJS.ProcessEnv
  cwd?: string
  exitCode: number
}
export type Measured = { name: string; median_ms: number; spread_ms: number }

/**
 * Runs the programs in turns, so that whatever else the machine does hits all of them alike, and takes the medians. One
 * that ends otherwise than it should is no measurement.
 */
export function measure(programs: readonly Program[], runs: number): Measured[] {
  const times = new Map<string, number[]>(programs.map(({ name }) => [name, []]))
  if (times.size < programs.length) throw new Error('two programs have the same name')
  for (let run = -2; run < runs; run += 1)
    for (const program of programs) {
      const since = performance.now()
      const ended = spawnSync(program.file, program.args, {
        input: program.input ?? '',
        env: { PATH: process.env.PATH, HOME: process.env.HOME, ...program.env },
        ...(program.cwd === undefined ? {} : { cwd: program.cwd }),
      })
      const ms = performance.now() - since
      if (ended.status !== program.exitCode)
        throw new Error(`${program.name} ended with ${ended.status}: ${ended.stderr}`)
      // The first two warm the caches of the disk.
      if (run >= 0) times.get(program.name)?.push(ms)
    }
  return programs.map(({ name }) => {
    const sorted = (times.get(name) ?? []).sort((a, b) => a - b)
    const at = (part: number): number => sorted[Math.floor((sorted.length - 1) * part)] ?? 0
    return { name, median_ms: round(at(0.5)), spread_ms: round(at(0.75) - at(0.25)) }
  })
}

export const round = (value: number, digits = 2): number => Number(value.toFixed(digits))
