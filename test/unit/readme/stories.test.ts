import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { project } from '../../support/project.ts'

const contributing = readFileSync(join(project, '.github/CONTRIBUTING.md'), 'utf8')
const section = /## Three stories\n([\s\S]*?)\n## /.exec(contributing)?.[1] ?? ''
const stories = [...section.matchAll(/^\*\*(.+)\*\*\n\n((?:\d+\. .+\n)+)/gm)].map(([, title = '', steps = '']) => ({
  title,
  steps: steps.trimEnd().split('\n'),
}))

describe('the stories of CONTRIBUTING', () => {
  it('are three', () => {
    expect(stories).toHaveLength(3)
  })

  it.each(stories)('$title: at most twelve steps, each names a function that is in its file', ({ steps }) => {
    expect(steps.length).toBeLessThanOrEqual(12)
    const wrong = steps.flatMap((step) => {
      const names = [...step.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
      let file = ''
      return names.filter((name) => {
        if (name.endsWith('.ts')) {
          file = readFileSync(join(project, name), 'utf8')
          return false
        }
        return !new RegExp(`^(?:export )?(?:async )?(?:function|const) ${name}\\b`, 'm').test(file)
      })
    })
    expect(wrong).toEqual([])
  })
})
