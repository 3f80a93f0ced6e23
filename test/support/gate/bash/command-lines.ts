import fc from 'fast-check'
import { pieces } from './pieces.ts'
import { families } from './rows/all.ts'

const soup = fc.array(fc.constantFrom(...pieces), { maxLength: 24 }).map((found) => found.join(''))
const beginsWell = soup.map((rest) => `echo ${rest}`)
const row = fc.constantFrom(
  ...Object.values(families).flatMap(({ allow, deny }) => [...allow, ...Object.values(deny).flat()]),
)
const disturbedRow = fc
  .tuple(row, fc.nat(), fc.constantFrom(...pieces))
  .map(([line, at, piece]) => line.slice(0, at % (line.length + 1)) + piece + line.slice(at % (line.length + 1)))

/** Anything that may come as a command line: noise, soup of shell syntax, and real lines with one piece put in. */
export const commandLine = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({ maxLength: 60 }),
  soup,
  beginsWell,
  disturbedRow,
)

/** Lines of which many are static words. */
export const wordyLine = fc.oneof(beginsWell, disturbedRow)
