import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { typicalSteps } from '../../../src/install/own-files.ts'
import { runHook } from '../../support/run-hook.ts'

/** What the code cache is made from: were an event to end early, what it is for would be compiled at each start. */
it('the typical events go the way that they are meant to', () => {
  const root = mkdtempSync(join(tmpdir(), 'typical-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  for (const folder of ['objects', 'refs']) mkdirSync(join(root, '.git', folder), { recursive: true })
  write('.git/HEAD', 'ref: refs/heads/main\n')
  write('.git/plan-gate/repository.json', '{"configs":{},"hooks":{}}')
  const answers = typicalSteps('post-tool-use').map(({ files, events }) => {
    for (const [path, text] of Object.entries(files)) write(path, text)
    return events.map((event) => runHook(root, 'post-tool-use', event, {}, true).stdout)
  })
  expect(answers).toEqual([
    ['', '', ''],
    ['', ''],
  ])
  // It is silent because the change is known to pass: of another one it says that the limit of calls is reached.
  const [last = ''] = typicalSteps('post-tool-use').at(-1)?.events ?? []
  expect(runHook(root, 'post-tool-use', last.replace('x\\n', 'y\\n'), {}, true).stdout).toContain('max_calls')
})
