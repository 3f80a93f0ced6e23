import { describe, expect, it } from 'vitest'
import { codeClasses, controlNames, readShippedChanges } from '../../../src/calibrate/cases.ts'
import { diffOf, makeCodeControl, seedCodeDefect } from '../../../src/calibrate/code-defects.ts'
import { seededRandom } from '../../../src/calibrate/statistics.ts'
import { diffLines, parseDiff } from '../../../src/text/diff.ts'

const changes = readShippedChanges().flatMap((base) => (base.type === 'code' ? [base] : []))

describe('the shipped changes', () => {
  it('are six, and each defect has a place in four of them', () => {
    expect(changes).toHaveLength(6)
    const places = codeClasses.map(
      (name) => changes.filter(({ files }) => seedCodeDefect(files, name, seededRandom('1')) !== null).length,
    )
    expect(Math.min(...places)).toBeGreaterThanOrEqual(4)
  })

  it('are diffs whose files and lines count', () => {
    for (const { files } of changes) {
      const diff = parseDiff(diffOf(files))
      expect(diff?.files.map(({ path }) => path)).toEqual(files.map(({ path }) => path))
      expect(diff?.strayLines).toBe(0)
    }
  })
})

describe.each(codeClasses)('%s', (name) => {
  it('changes added lines of one file, at the place that it names', () => {
    for (const { id, files } of changes) {
      for (const number of [1, 2, 3]) {
        const mutant = seedCodeDefect(files, name, seededRandom(`${number} ${id}`))
        if (mutant === null) continue
        const changed = files.flatMap((file) => {
          const after = mutant.files.find(({ path }) => path === file.path)?.after ?? ''
          return after === file.after ? [] : [{ path: file.path, diff: diffLines(file.after, after) }]
        })
        expect(changed.map(({ path }) => path)).toEqual([mutant.defect.file])
        const lines = changed.flatMap(({ diff }) => diff.map(({ before }) => before))
        const near = lines.some((line) => mutant.defect.lines.some((own) => Math.abs(own - line) <= 1))
        expect(near).toBe(true)
        expect(diffOf(mutant.files)).not.toContain(name)
      }
    }
  })
})

describe('other languages', () => {
  const python = {
    path: 'a.py',
    before: null,
    after:
      'def read(path):\n    if path is None:\n        return None\n    try:\n        return load(path, mode)\n    except OSError:\n        log()\n        raise\n',
  }
  it.each([
    ['check-removed', 'def read(path):\n    try:'],
    ['error-swallowed', '        log()\n        pass\n'],
    ['arguments-swapped', 'load(mode, path)'],
  ] as const)('%s in Python', (name, expected) => {
    expect(seedCodeDefect([python], name, seededRandom('1'))?.files[0]?.after).toContain(expected)
  })

  it('makes none in lines that were there before', () => {
    const same = { path: 'a.ts', before: 'if (x === null) return\n', after: 'if (x === null) return\nconst y = 1\n' }
    expect(codeClasses.filter((name) => seedCodeDefect([same], name, seededRandom('1')) !== null)).toEqual([])
  })
})

describe.each(controlNames)('the control %s', (name) => {
  it('keeps the words of the code, but for one name or one comment', () => {
    const made = changes.flatMap(({ files }) => {
      const control = makeCodeControl(files, name)
      return control === null ? [] : [{ files, control }]
    })
    expect(made.length).toBeGreaterThanOrEqual(4)
    for (const { files, control } of made) {
      expect(control.map(({ path }) => path)).toEqual(files.map(({ path }) => path))
      const differing = control.filter(({ after }, at) => after !== files[at]?.after)
      expect(differing).toHaveLength(name === 'unchanged' ? 0 : 1)
      const back = control.map(({ after }) =>
        after.replace(/\blocal([A-Z])/g, (_, first: string) => first.toLowerCase()).replace('Note: ', ''),
      )
      expect(back).toEqual(files.map(({ after }) => after))
    }
  })
})
