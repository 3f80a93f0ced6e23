import type { Mutant } from './mutants.ts'

/** The file with the fault in it. Where it does not stand exactly once, the table is out of date. */
export function mutate(source: string, { file, find, replace }: Mutant): string {
  const places = source.split(find).length - 1
  if (places !== 1) throw new Error(`${file} has ${places} places for the fault, not one: ${find}`)
  return source.replace(find, () => replace)
}
