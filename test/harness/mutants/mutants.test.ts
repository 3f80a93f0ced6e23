import { readFileSync } from 'node:fs'
import { transformSync } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { mutants } from './mutants.ts'
import { mutate } from './mutate.ts'

/** Whether the tests see these faults is for `npm run mutants` to say; here it is seen that each is one. */
describe('the table of faults', () => {
  it('has enough of them, each once', () => {
    expect(mutants.length).toBeGreaterThanOrEqual(30)
    expect(new Set(mutants.map(({ file, find }) => `${file} ${find}`)).size).toBe(mutants.length)
  })

  it.each(mutants)('fits $file: $why', (mutant) => {
    const source = readFileSync(mutant.file, 'utf8')
    const broken = mutate(source, mutant)
    expect(broken).not.toBe(source)
    // A fault that is no program at all would be seen by anything.
    expect(transformSync(broken, { loader: 'ts' }).code).not.toBe(transformSync(source, { loader: 'ts' }).code)
  })
})
