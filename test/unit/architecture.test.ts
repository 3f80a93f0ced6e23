import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  circularLoads,
  filesByFolder,
  forbiddenImports,
  loadedWith,
  longestChain,
  readSources,
} from '../support/layout.ts'
import { project } from '../support/project.ts'

const sources = readSources(project)
const textOf = (path: string): string => readFileSync(join(project, path), 'utf8')

/**
 * Files that decide: no file system, no process, no clock, no network. What they answer depends on their arguments
 * alone, so their tests are tables.
 */
const pure = [
  /^src\/calibrate\/(?:code-defects|measure|plan-[a-z]+|recommend|statistics)\.ts$/,
  /^src\/gate\/(?:decide|tools|protected-paths|scope|plan-state)\.ts$/,
  /^src\/gate\/bash\//,
  /^src\/plan\/(?:findings|messages|annotate|next-step|next-action)\.ts$/,
  /^src\/report\//,
  /^src\/review\/(?:answer|complexity|normalise-answer|findings|fit|locate-finding|passes|prompts|settle|tokens)\.ts$/,
  /^src\/reviewers\/routes\.ts$/,
  /^src\/schemas\//,
  /^src\/text\//,
]
const effects = /^(node:(?!path$|crypto$)|fs$|child_process$|execa$|simple-git$)/

describe('the source layout', () => {
  it('is read whole: the scan finds what a known file imports', () => {
    const decide = sources.find(({ path }) => path === 'src/gate/decide.ts')
    expect(decide?.imports).toEqual(expect.arrayContaining(['src/gate/tools.ts', 'src/gate/plan-state.ts']))
    expect(sources.length).toBeGreaterThan(100)
  })

  it('imports only downwards', () => {
    expect(forbiddenImports(sources)).toEqual([])
  })

  it('finds an import that goes upwards', () => {
    const upwards = { path: 'src/gate/x.ts', folder: 'gate', lines: 1, packages: [], loads: [], loadsGenerated: false }
    expect(forbiddenImports([{ ...upwards, imports: ['src/plan/messages.ts'] }])).toHaveLength(1)
  })

  it('builds in a clean clone: the build loads nothing that only the build makes', () => {
    const loaded = loadedWith(sources, 'src/build/build.ts')
    expect(
      sources.filter(({ path, loadsGenerated }) => loaded.has(path) && loadsGenerated).map(({ path }) => path),
    ).toEqual([])
    expect(sources.filter(({ loadsGenerated }) => loadsGenerated).length).toBeGreaterThan(0)
  })

  it('has no circles', () => {
    expect(circularLoads(sources)).toEqual([])
  })

  it('has folders that can be read at a glance, and no long chains of imports', () => {
    const crowded = [...filesByFolder(sources)].filter(([folder, files]) => folder !== 'src/cli' && files.length > 22)
    expect(crowded.map(([folder]) => folder)).toEqual([])
    expect(longestChain(sources).length).toBeLessThanOrEqual(10)
  })

  it('keeps files that decide free of effects', () => {
    const deciding = sources.filter(({ path }) => pure.some((pattern) => pattern.test(path)))
    const wrong = deciding.filter(({ packages }) => packages.some((name) => effects.test(name)))
    const clocks = deciding.filter(({ path }) =>
      /(?<![-\w.])(Date\.now|new Date\(\)|Math\.random|process\.\w)/.test(textOf(path)),
    )
    expect([...wrong, ...clocks].map(({ path }) => path)).toEqual([])
    expect(deciding.length).toBeGreaterThan(25)
  })

  it('has no barrels, no utils and no classes but errors', () => {
    const misnamed = sources.filter(({ path }) => /(^|\/)(index|utils?|helpers?|common|misc)\.ts$/.test(path))
    const classes = sources.flatMap(({ path }) =>
      [...textOf(path).matchAll(/^(?:export )?class (\w+)(?: extends (\w+))?/gm)]
        .filter(([, , parent = '']) => !parent.endsWith('Error'))
        .map(([line]) => `${path}: ${line}`),
    )
    expect({ misnamed: misnamed.map(({ path }) => path), classes }).toEqual({ misnamed: [], classes: [] })
  })
})
