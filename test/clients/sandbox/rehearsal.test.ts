import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { project } from '../../support/project.ts'
import { differences, type SandboxedWorktree, sandboxedWorktree, wholeState } from '../../support/sandboxed-worktree.ts'

const testFile = (n: number): string => `import { expect, it } from 'vitest'
import { sum } from './sum'
${Array.from({ length: 20 }, (_, i) => `it('adds ${n} and ${i}', () => expect(sum(${n}, ${i})).toBe(${n + i}))`).join('\n')}
`

let worktree: SandboxedWorktree
beforeAll(async () => {
  worktree = await sandboxedWorktree({
    '.gitignore': 'node_modules\n',
    'package.json':
      '{"name":"typical","type":"module","scripts":{"test":"vitest run","build":"node -e \\"fs.writeFileSync(\'built.js\', \'x\')\\""}}\n',
    'src/sum.ts': 'export const sum = (a: number, b: number): number => a + b\n',
    ...Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`src/sum-${n}.test.ts`, testFile(n)])),
  })
  mkdirSync(join(worktree.root, 'node_modules'))
  cpSync(join(project, 'node_modules'), join(worktree.root, 'node_modules'), {
    recursive: true,
    verbatimSymlinks: true,
  })
  worktree.write('.ready', '')
}, 300_000)
afterAll(() => worktree.remove())

const state = (): Map<string, string> => wholeState([worktree.root], (path) => path.endsWith('/node_modules'))

it('tests run before an approval, with the same result, and nothing is left behind', { timeout: 300_000 }, async () => {
  const before = state()
  const caches = wholeState([join(worktree.root, 'node_modules/.vite'), join(worktree.root, 'node_modules/.vite-temp')])
  const rehearsed = await worktree.run('npm test', { timeoutMs: 120_000 })
  expect(rehearsed.output).toContain('a rehearsal')
  expect(rehearsed.output).toMatch(/Tests.*400 passed/)
  expect(rehearsed.code).toBe(0)
  expect(differences(before, state())).toEqual([])
  expect(
    wholeState([join(worktree.root, 'node_modules/.vite'), join(worktree.root, 'node_modules/.vite-temp')]),
  ).toEqual(caches)
  expect(await worktree.run('npm run build && cat built.js')).toMatchObject({
    code: 0,
    output: expect.stringContaining('x'),
  })
  expect(differences(before, state())).toEqual([])
})
