import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { project } from '../support/project.ts'

type Job = {
  strategy?: { matrix?: { [name: string]: unknown[] } }
  steps?: { run?: string }[]
  'timeout-minutes'?: number
}
const folder = join(project, '.github/workflows')
const { scripts } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as { scripts: object }

/** A `run` once for each value of the matrix. */
const commandsOf = ({ strategy, steps = [] }: Job): string[] =>
  steps
    .flatMap(({ run = '' }) => run.split('\n'))
    .flatMap((line) => {
      const [whole, name = ''] = /\$\{\{ matrix\.(\w+) \}\}/.exec(line) ?? []
      return whole === undefined
        ? [line]
        : (strategy?.matrix?.[name] ?? []).map((value) => line.replace(whole, `${value}`))
    })

describe.each(readdirSync(folder))('%s', (file) => {
  const { jobs } = parse(readFileSync(join(folder, file), 'utf8')) as { jobs: { [name: string]: Job } }
  const commands = Object.values(jobs).flatMap(commandsOf)

  it('runs scripts that there are', () => {
    const asked = commands.flatMap((line) => /\bnpm run (?:--silent )?([\w:-]+)/.exec(line)?.[1] ?? [])
    expect(asked.filter((name) => !(name in scripts))).toEqual([])
    const files = commands.flatMap((line) => /\bbash (\S+)/.exec(line)?.[1] ?? [])
    expect(files.filter((path) => !existsSync(join(project, path)))).toEqual([])
  })

  it('has a limit for each job that runs something', () => {
    const without = Object.entries(jobs).filter(([, job]) => job.steps && job['timeout-minutes'] === undefined)
    expect(without.map(([name]) => name)).toEqual([])
  })
})
