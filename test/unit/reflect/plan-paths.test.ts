import { describe, expect, it } from 'vitest'
import { checkPlanPath, type PlanCandidate } from '../../../src/reflect/subject.ts'

const folder = '/home/u/.claude/plans'
const plain = (path: string): PlanCandidate => ({
  path,
  folder,
  realPath: path,
  realFolder: folder,
  isRegularFile: true,
})
const at = (name: string, rest: Partial<PlanCandidate> = {}): PlanCandidate => ({
  ...plain(`${folder}/${name}`),
  ...rest,
})

const rows: { what: string; of: PlanCandidate; expected: 'plan' | RegExp }[] = [
  { what: 'a plan', of: at('a.md'), expected: 'plan' },
  { what: 'a plan with spaces', of: at('my plan.md'), expected: 'plan' },
  { what: 'a plan with a dot in its name', of: at('v1.2.md'), expected: 'plan' },
  { what: 'the folder with a slash at its end', of: at('a.md', { folder: `${folder}/` }), expected: 'plan' },
  {
    what: 'the whole folder behind a link',
    of: at('a.md', { realPath: '/data/plans/a.md', realFolder: '/data/plans' }),
    expected: 'plan',
  },
  {
    what: 'Windows',
    of: { ...plain('C:\\u\\plans\\a.md'), folder: 'C:\\u\\plans', realFolder: 'C:\\u\\plans' },
    expected: 'plan',
  },
  { what: 'another ending', of: at('a.txt'), expected: /Markdown/ },
  { what: 'an ending in capitals', of: at('a.MD'), expected: /Markdown/ },
  { what: 'nothing but the ending', of: at('.md'), expected: /Markdown/ },
  { what: 'a hidden file', of: at('.a.md'), expected: /Markdown/ },
  { what: 'the ending in the middle', of: at('a.md.sh'), expected: /Markdown/ },
  { what: 'a folder below', of: at('sub/a.md'), expected: /directly below/ },
  { what: 'the folder above', of: plain('/home/u/.claude/a.md'), expected: /directly below/ },
  { what: 'a folder that only begins alike', of: plain('/home/u/.claude/plans-old/a.md'), expected: /directly below/ },
  { what: 'the folder itself', of: plain(folder), expected: /directly below/ },
  { what: 'nothing behind the folder', of: at(''), expected: /directly below/ },
  { what: 'up and out', of: at('../../../etc/a.md'), expected: /\.\./ },
  { what: 'up and back in', of: at('../plans/a.md'), expected: /\.\./ },
  { what: 'up with backslashes', of: at('..\\a.md'), expected: /\.\./ },
  { what: 'by way of the same folder', of: at('./a.md'), expected: /\.\./ },
  { what: 'a relative path', of: plain('plans/a.md'), expected: /absolute/ },
  { what: 'the home in short', of: plain('~/.claude/plans/a.md'), expected: /absolute/ },
  { what: 'no path', of: plain(''), expected: /absolute/ },
  { what: 'a NUL byte', of: at('a.md\0.txt'), expected: /control/ },
  { what: 'a line break', of: at('a\nb.md'), expected: /control/ },
  { what: 'a link to a file elsewhere', of: at('a.md', { realPath: '/etc/passwd' }), expected: /link/ },
  { what: 'a link to another plan', of: at('a.md', { realPath: `${folder}/b.md` }), expected: /link/ },
  { what: 'a link to a file of the same name elsewhere', of: at('a.md', { realPath: '/tmp/a.md' }), expected: /link/ },
  { what: 'a file that is not there', of: at('a.md', { realPath: null }), expected: /no file/ },
  { what: 'a folder of that name', of: at('a.md', { isRegularFile: false }), expected: /no file/ },
  { what: 'a folder of plans that is not there', of: at('a.md', { realFolder: null }), expected: /no file/ },
]

describe('checkPlanPath', () => {
  it.each(rows)('$what → $expected', ({ of, expected }) => {
    const judged = checkPlanPath(of)
    if (expected === 'plan') expect(judged).toEqual({ kind: 'plan', path: of.path })
    else expect(judged).toEqual({ kind: 'rejected', why: expect.stringMatching(expected) })
  })
})
