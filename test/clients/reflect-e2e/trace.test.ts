import { appendFileSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ReviewedWorktree } from '../../support/reviewed-worktree.ts'
import { openFail, pass, question, reflectWorktree } from './reflect-worktree.ts'

const changes = '- `src/app.ts` (changed): print hello.\n- `src/new.ts` (new): the greeting.\n- `src/old.ts` (deleted)'
const files = {
  'src/old.ts': 'old\n',
  'src/other.ts': 'other\n',
  'src/mine.ts': 'mine\n',
  '.gitignore': 'ignored.txt\n',
}

/** All that the plan names. */
function carryOut({ write, at }: ReviewedWorktree): void {
  write('src/app.ts', 'console.log("hello")\n')
  write('src/new.ts', 'export const hello = 1\n')
  unlinkSync(at('src/old.ts'))
}

type Row = {
  name: string
  before?: (worktree: ReviewedWorktree) => void
  work: (worktree: ReviewedWorktree) => void
  unplanned?: readonly RegExp[]
  undone?: readonly RegExp[]
}

const rows: readonly Row[] = [
  { name: 'all of it, and nothing else', work: carryOut },
  {
    name: 'a file that is not in the plan',
    work: (worktree) => {
      carryOut(worktree)
      worktree.write('src/other.ts', 'changed\n')
    },
    unplanned: [/src\/other\.ts \(changed\)/],
  },
  {
    name: 'a file that git does not know yet',
    work: (worktree) => {
      carryOut(worktree)
      worktree.write('src/extra.ts', 'x\n')
    },
    unplanned: [/src\/extra\.ts \(added\)/],
  },
  {
    name: 'a file that git ignores',
    work: (worktree) => {
      carryOut(worktree)
      worktree.write('ignored.txt', 'x\n')
    },
  },
  {
    name: 'a file that is deleted, and not in the plan',
    work: (worktree) => {
      carryOut(worktree)
      unlinkSync(worktree.at('src/other.ts'))
    },
    unplanned: [/src\/other\.ts \(deleted\)/],
  },
  {
    name: 'a file that is renamed, and not in the plan',
    work: (worktree) => {
      carryOut(worktree)
      worktree.git('mv', 'src/other.ts', 'src/another.ts')
    },
    unplanned: [/src\/another\.ts \(moved from src\/other\.ts\)/],
  },
  {
    name: 'a step without a change',
    work: ({ write }) => void write('src/app.ts', 'console.log("hello")\n'),
    undone: [/src\/new\.ts .*no change/, /src\/old\.ts .*no change/],
  },
  {
    name: 'a file that is to be deleted, and was changed',
    work: (worktree) => {
      carryOut(worktree)
      worktree.write('src/old.ts', 'changed\n')
    },
    undone: [/src\/old\.ts .*it is still there, with changes/],
  },
  {
    name: 'work that is committed already',
    work: (worktree) => {
      carryOut(worktree)
      worktree.git('add', '-A')
      worktree.git('commit', '-qm', 'Say hello')
    },
  },
  {
    name: 'work in several commits, one of them not in the plan',
    work: (worktree) => {
      worktree.write('src/other.ts', 'changed\n')
      worktree.git('commit', '-qam', 'By the way')
      carryOut(worktree)
      worktree.git('add', '-A')
      worktree.git('commit', '-qm', 'Say hello')
    },
    unplanned: [/src\/other\.ts \(changed\)/],
  },
  {
    name: 'what was changed before the approval',
    before: ({ write, at, git }) => {
      write('src/mine.ts', 'changed before\n')
      write('src/untracked.ts', 'there before\n')
      unlinkSync(at('src/other.ts'))
      write('src/staged ä.ts', 'staged before\n')
      git('add', 'src/staged ä.ts')
    },
    work: carryOut,
  },
  {
    name: 'what was changed before the approval, and is committed since',
    before: ({ write }) => void write('src/mine.ts', 'changed before\n'),
    work: (worktree) => {
      carryOut(worktree)
      worktree.git('add', '-A')
      worktree.git('commit', '-qm', 'All of it')
    },
  },
  {
    name: 'what was changed before the approval, and again since',
    before: ({ write }) => void write('src/mine.ts', 'changed before\n'),
    work: (worktree) => {
      carryOut(worktree)
      appendFileSync(worktree.at('src/mine.ts'), 'and since\n')
    },
    unplanned: [/src\/mine\.ts \(changed\)/],
  },
  {
    name: 'names with every character',
    work: (worktree) => {
      carryOut(worktree)
      worktree.write('src/with "quotes" and ä.ts', 'x\n')
    },
    unplanned: [/src\/with "quotes" and ä\.ts \(added\)/],
  },
  {
    name: 'a link instead of a file',
    work: (worktree) => {
      carryOut(worktree)
      rmSync(worktree.at('src/other.ts'))
      symlinkSync('app.ts', worktree.at('src/other.ts'))
    },
    unplanned: [/src\/other\.ts \(changed\)/],
  },
]

describe('a stop holds what was done against the plan', () => {
  it.each(rows)('$name', async ({ before, work, unplanned = [], undone = [] }) => {
    const worktree = await reflectWorktree([pass], { changes, files, ...(before === undefined ? {} : { before }) })
    work(worktree)
    const result = await worktree.stop()
    expect(result).toMatchObject({ exitCode: 0, blocks: false, model: null })
    const [first = '', second = ''] = (result.user ?? '').split('Named in the plan')
    expect([first.includes('not named in the plan'), result.user?.includes('Named in the plan') ?? false]).toEqual([
      unplanned.length > 0,
      undone.length > 0,
    ])
    for (const line of unplanned) expect(first).toMatch(line)
    for (const line of undone) expect(second).toMatch(line)
    const listed = (result.user ?? '').split('\n').filter((line) => line.startsWith('  - '))
    expect(listed).toHaveLength(unplanned.length + undone.length)
  })

  const halfDone = ({ write }: ReviewedWorktree): void => {
    write('src/app.ts', 'console.log("hello")\n')
    write('src/other.ts', 'changed\n')
  }

  it('and where the configuration says so, is held by it, without a call', async () => {
    const worktree = await reflectWorktree([pass], { changes, files, config: 'reflect:\n  traceability: blocking\n' })
    halfDone(worktree)
    const held = await worktree.stop()
    expect(held).toMatchObject({ exitCode: 2, blocks: true })
    for (const part of [
      /src\/other\.ts \(changed\)/,
      /src\/new\.ts .*no change/,
      /Take back what does not belong to it/,
    ])
      expect(held.model).toMatch(part)
    expect(await worktree.stop({ stop_hook_active: true })).toMatchObject({ exitCode: 0, blocks: false, user: null })
    expect(worktree.api.requests).toHaveLength(0)
    carryOut(worktree)
    worktree.git('checkout', '-q', 'src/other.ts')
    expect(await worktree.stop()).toMatchObject({ exitCode: 0, blocks: false })
    expect(worktree.api.requests).toHaveLength(1)
  })

  it('but sends nobody to begin who may be asking whether to', async () => {
    const worktree = await reflectWorktree([pass], { changes, files, config: 'reflect:\n  traceability: blocking\n' })
    const result = await worktree.stop({ last_assistant_message: 'The plan is approved. Ready to execute?' })
    expect(result).toMatchObject({ exitCode: 0, blocks: false })
    expect(result.user).toMatch(/src\/app\.ts .*no change/)
  })

  it('and does not where it is switched off', async () => {
    const worktree = await reflectWorktree([pass], { changes, files, config: 'reflect:\n  traceability: off\n' })
    halfDone(worktree)
    expect(await worktree.stop()).toMatchObject({ exitCode: 0, blocks: false, user: null })
    expect(question(worktree.api, 1)).toContain('src/other.ts')
  })

  it('and beside what is open', async () => {
    const worktree = await reflectWorktree([pass], { changes, files })
    halfDone(worktree)
    worktree.putState({ fails: { fails: [openFail('src/app.ts')] } })
    const held = await worktree.stop()
    for (const part of [/src\/app\.ts: FAIL/, /src\/other\.ts \(changed\)/, /src\/new\.ts .*no change/])
      expect(held.model).toMatch(part)
  })

  it('but is not made where git could be made to run something', async () => {
    const worktree = await reflectWorktree([pass], { changes, files })
    const { at, git, root, stop, api } = worktree
    halfDone(worktree)
    writeFileSync(at('.git/tell'), `#!/bin/sh\ntouch '${join(root, 'it-ran')}'\n`, { mode: 0o755 })
    git('config', 'core.fsmonitor', at('.git/tell'))
    expect(await stop()).toMatchObject({ exitCode: 0, blocks: false, user: null })
    expect(question(api, 1)).not.toContain('src/other.ts')
    expect(() => renameSync(at('it-ran'), at('gone'))).toThrow('ENOENT')
  })

  it('and is not held up where git says nothing', async () => {
    const worktree = await reflectWorktree([pass], { changes, files })
    halfDone(worktree)
    writeFileSync(worktree.at('.git/HEAD'), 'ref: refs/heads/nowhere\n')
    writeFileSync(worktree.at('.git/index'), 'no index')
    expect(await worktree.stop()).toMatchObject({ exitCode: 0, blocks: false, user: null })
    expect(question(worktree.api, 1)).toContain('It is done.')
  })
})
