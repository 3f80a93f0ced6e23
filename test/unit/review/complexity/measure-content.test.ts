import { describe, expect, it } from 'vitest'
import { readPlanScope } from '../../../../src/gate/scope.ts'
import { measureContent } from '../../../../src/review/complexity.ts'
import type { Complexity, ReviewType } from '../../../../src/schemas/review.ts'
import { diffOf } from '../diff-of.ts'

const lines = (count: number): string => 'a line\n'.repeat(count)
const plan = (...changes: readonly string[]): string =>
  `# A plan\n\n## Changes\n\n${changes.map((path) => `- \`${path}\` (changed): more.\n`).join('')}\n## Risks\n\nsrc/auth.ts\n`
const files = (count: number): string[] => Array.from({ length: count }, (_, i) => `src/f${i}.ts`)

describe('measureContent', () => {
  it.each<[string, ReviewType, string, Complexity, { files?: number; lines?: number; security?: readonly string[] }]>([
    ['3 files, 200 lines', 'code', diffOf(files(3), 200), 'low', { files: 3, lines: 200 }],
    ['4 files', 'code', diffOf(files(4), 4), 'medium', { files: 4 }],
    ['201 lines', 'code', diffOf(files(1), 201), 'medium', { lines: 201 }],
    ['15 files, 2000 lines', 'code', diffOf(files(15), 2000), 'medium', { files: 15, lines: 2000 }],
    ['16 files', 'code', diffOf(files(16), 16), 'high', { files: 16 }],
    ['2001 lines', 'code', diffOf(files(1), 2001), 'high', { lines: 2001 }],
    [
      'one line of a security-sensitive file',
      'code',
      diffOf(['src/auth.ts'], 1),
      'high',
      { security: ['src/auth.ts'] },
    ],
    [
      'a rename away from a security-sensitive path',
      'code',
      'diff --git a/.env b/env.md\nsimilarity index 100%\nrename from .env\nrename to env.md\n',
      'high',
      { security: ['.env'] },
    ],
    ['a file of 200 lines', 'code', lines(200), 'low', { files: 0, lines: 200 }],
    ['a file of 201 lines', 'code', lines(201), 'medium', { lines: 201 }],
    ['a document of 2001 lines', 'sdd', lines(2001), 'high', { lines: 2001 }],
    ['a document that shows a small diff', 'prd', `${lines(300)}${diffOf(['a'], 1)}`, 'medium', { lines: 301 }],
    ['a sprint plan', 'sprint', lines(3), 'low', { lines: 3 }],
    ['nothing', 'code', '', 'low', { lines: 0 }],
    ['a plan of 3 files', 'plan', plan(...files(3)), 'low', { files: 3, lines: 0 }],
    ['a plan of 4', 'plan', plan(...files(4)), 'medium', { files: 4 }],
    ['a plan of 16', 'plan', plan(...files(16)), 'high', { files: 16 }],
    ['a plan for a security-sensitive file', 'plan', plan('.github/workflows/ci.yml'), 'high', {}],
    ['a plan that names it elsewhere', 'plan', plan('src/a.ts'), 'low', { files: 1 }],
    ['a plan of a folder', 'plan', plan('src/lib/'), 'medium', { files: 1 }],
    ['a plan of a pattern', 'plan', plan('src/**'), 'medium', { files: 1 }],
    ['a plan that names nothing', 'plan', plan(), 'medium', { files: 0 }],
    ['a plan without the section', 'plan', '# Do it\n', 'medium', { files: 0 }],
  ])('%s (%s)', (_, type, content, level, more) => {
    const { security, ...counted } = more
    expect(measureContent(type, content, readPlanScope)).toMatchObject({
      level,
      ...counted,
      ...(security === undefined ? {} : { securityPaths: security }),
    })
  })

  it('does not look for a plan in code', () => {
    const readChanges = () => {
      throw new Error('not asked for')
    }
    expect(measureContent('code', plan('.env'), readChanges).level).toBe('low')
  })
})
