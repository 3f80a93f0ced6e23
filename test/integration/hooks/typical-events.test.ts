import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { typicalEvents } from '../../../src/install/own-files.ts'
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
  write('.git/plan-gate/tree.json', '{"head":"(initial)","paths":{},"reported":null}')
  const answers = (hook: string) => typicalEvents(hook).map((event) => runHook(root, hook, event, {}, true))
  expect(answers('post-tool-use').map(({ stdout }) => stdout)).toEqual(['', '', ''])
  const denied = answers('pre-tool-use').map(({ stderr }) => /plan-gate: (\S+)/.exec(stderr)?.[1] ?? 'allowed')
  expect(denied).toMatchInlineSnapshot(`
    [
      "writing",
      "writing",
      "allowed",
      "allowed",
      "allowed",
      "allowed",
      "allowed",
      "docs/plan.md",
      "docs/plan.md",
      "allowed",
      "mcp__server__tool",
    ]
  `)
})
