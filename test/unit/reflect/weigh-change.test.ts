import { describe, expect, it } from 'vitest'
import { chooseReflectionModel, type FileKind, kindOfFile, weighChange } from '../../../src/reflect/ask.ts'
import type { ChangeSize } from '../../../src/reflect/subject.ts'

const kinds: { [kind in FileKind]: string[] } = {
  security: ['src/auth/login.ts', 'src/api-token.ts', 'Dockerfile', '.github/workflows/ci.yml', 'test/session.test.ts'],
  data: ['db/migrations/0001.ts', 'schema.prisma', 'src/models/user.ts', 'a.sql', 'test/migrations/a.test.ts'],
  tests: ['test/a.ts', 'src/a.test.ts', 'src/__tests__/a.tsx', 'tests/test_a.py', 'a_test.go', 'spec/a.rb'],
  docs: ['README.md', 'docs/a.html', 'CHANGELOG', 'a.rst'],
  ui: ['src/App.tsx', 'a.css', 'index.html', 'b.vue'],
  config: ['package.json', 'tsconfig.json', '.eslintrc', 'vite.config.ts', 'a.toml', 'Makefile', 'Cargo.lock'],
  other: ['src/a.ts', 'main.go', 'author.ts', 'lib/contest.py', 'documents.ts', 'noext'],
}

describe('kindOfFile', () => {
  it.each(Object.entries(kinds).flatMap(([kind, paths]) => paths.map((path) => ({ path, kind }))))(
    '$path → $kind',
    ({ path, kind }) => {
      expect(kindOfFile(path)).toBe(kind)
    },
  )
})

const size = (linesBefore: number, linesAfter: number, chars = 500): ChangeSize => ({
  linesBefore,
  linesAfter,
  charsBefore: chars,
  charsAfter: chars,
})
const [small, normal, large] = [size(2, 3), size(40, 50), size(300, 400)]

const weights = [
  { path: 'src/auth.ts', size: small, model: 'review', effort: 'xhigh' },
  { path: 'src/auth.ts', size: large, model: 'review', effort: 'xhigh' },
  { path: 'db/migrations/1.sql', size: small, model: 'review', effort: 'xhigh' },
  { path: 'package.json', size: small, model: 'review', effort: 'high' },
  { path: 'package.json', size: large, model: 'review', effort: 'xhigh' },
  { path: 'test/a.test.ts', size: small, model: 'fast', effort: 'medium' },
  { path: 'test/a.test.ts', size: normal, model: 'review', effort: 'medium' },
  { path: 'test/a.test.ts', size: large, model: 'review', effort: 'high' },
  { path: 'src/App.tsx', size: normal, model: 'review', effort: 'medium' },
  { path: 'README.md', size: normal, model: 'fast', effort: 'low' },
  { path: 'README.md', size: large, model: 'review', effort: 'medium' },
  { path: 'src/a.ts', size: small, model: 'fast', effort: 'high' },
  { path: 'src/a.ts', size: normal, model: 'review', effort: 'high' },
  { path: 'src/a.ts', size: large, model: 'review', effort: 'xhigh' },
  { path: 'src/a.ts', size: size(1, 1, 5000), model: 'review', effort: 'high' },
  { path: 'src/a.ts', size: size(1, 1, 50_000), model: 'review', effort: 'xhigh' },
]

describe('weighChange', () => {
  it.each(weights)('$path, $size.linesAfter lines of $size.charsAfter → $model, $effort', (row) => {
    expect(weighChange(row.path, row.size)).toMatchObject({ model: row.model, effort: row.effort })
  })

  it.each([
    { what: 'much is gone', size: size(100, 10), hint: '100 lines become 10.' },
    { what: 'much is new', size: size(10, 200), hint: '10 lines become 200.' },
    { what: 'all of it is new', size: size(0, 200), hint: null },
    { what: 'it stays about the same', size: size(100, 90), hint: null },
    { what: 'little is gone', size: size(10, 1), hint: null },
  ])('$what → $hint', ({ size: of, hint }) => {
    const { hints } = weighChange('src/a.ts', of)
    expect(hints).toEqual(hint === null ? [] : [expect.stringContaining(hint)])
  })

  it('asks about what the file is', () => {
    expect(weighChange('src/auth.ts', normal).hints[0]).toContain('guards something')
    expect(weighChange('src/a.test.ts', normal).hints[0]).toContain('This is a test.')
  })
})

const names = { override: null, review: 'big', fast: 'small' }
const models = [
  { weight: 'review', effort: 'medium', models: names, expected: { model: 'big', effort: 'medium' } },
  { weight: 'fast', effort: 'low', models: names, expected: { model: 'small', effort: 'high' } },
  { weight: 'fast', effort: 'medium', models: names, expected: { model: 'small', effort: 'high' } },
  { weight: 'fast', effort: 'xhigh', models: names, expected: { model: 'small', effort: 'xhigh' } },
  { weight: 'fast', effort: 'low', models: { ...names, fast: null }, expected: { model: 'big', effort: 'low' } },
  { weight: 'fast', effort: 'low', models: { ...names, override: 'mine' }, expected: { model: 'mine', effort: 'low' } },
  {
    weight: 'review',
    effort: 'low',
    models: { ...names, override: 'mine' },
    expected: { model: 'mine', effort: 'low' },
  },
  {
    weight: 'review',
    effort: 'low',
    models: { ...names, override: 'small' },
    expected: { model: 'small', effort: 'high' },
  },
  {
    weight: 'fast',
    effort: 'low',
    models: { override: null, review: null, fast: null },
    expected: { model: null, effort: 'low' },
  },
] as const

describe('chooseReflectionModel', () => {
  it.each(models)('$weight at $effort with $models → $expected', ({ weight, effort, models: of, expected }) => {
    expect(chooseReflectionModel({ model: weight, effort }, of)).toEqual(expected)
  })
})
