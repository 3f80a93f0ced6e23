import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { project } from '../../support/project.ts'
import { temporaryFolder, write } from '../../support/temporary-repo.ts'

/** Says where it runs, and starts what stands behind `--` as npx does: with the folder of the package's commands first on PATH. */
const npx = (folder: string): string => `#!/bin/sh
printf '%s\\n' "$(pwd)" "$(cat package.json)" "$npm_config_registry$NODE_OPTIONS" "$2" > '${folder}/npx'
while [ "$1" != -- ]; do shift; done
shift
PATH='${folder}/cache/node_modules/.bin':$PATH exec "$@"
`
const released = `import { writeFileSync } from 'node:fs'
writeFileSync(process.env.RAN, JSON.stringify([process.cwd(), process.argv.slice(2)]))`

it('a copy that is not built takes the released program, whatever the checkout holds', () => {
  const folder = temporaryFolder()
  cpSync(join(project, '.claude-plugin'), join(folder, 'copy/.claude-plugin'), { recursive: true })
  const evil = { 'node_modules/plan-gate/dist/cli.mjs': 'throw 1', '.npmrc': 'registry=http://127.0.0.1:9/\n' }
  write(join(folder, 'a checkout'), evil)
  write(folder, { 'bin/npx': npx(folder), 'cache/node_modules/plan-gate/dist/cli.mjs': released })
  chmodSync(join(folder, 'bin/npx'), 0o755)
  const run = spawnSync(
    process.execPath,
    [join(folder, 'copy/.claude-plugin/cli.mjs'), 'install', '--reviewer', 'x y'],
    {
      cwd: join(folder, 'a checkout'),
      env: {
        PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
        RAN: join(folder, 'ran'),
        npm_config_registry: 'http://127.0.0.1:9/',
        // This process was started without it.
        CLAUDE_PID: `${process.pid}`,
      },
      encoding: 'utf8',
    },
  )
  expect([run.status, run.stderr]).toEqual([0, ''])
  const [cwd, manifest, variables, asked] = readFileSync(join(folder, 'npx'), 'utf8').split('\n')
  expect(cwd).not.toContain(folder)
  const { version } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as { version: string }
  expect([manifest, variables, asked]).toEqual(['{"private":true}', '', `--package=plan-gate@${version}`])
  expect(JSON.parse(readFileSync(join(folder, 'ran'), 'utf8'))).toEqual([
    join(folder, 'a checkout'),
    ['install', '--reviewer', 'x y'],
  ])
})
