import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { project } from '../../support/project.ts'

it.each(['README.md', '.github/SECURITY.md', '.github/CONTRIBUTING.md'])('%s names files that exist', (document) => {
  const text = readFileSync(join(project, document), 'utf8')
  const named = [...text.matchAll(/(?:`|\]\()((?:test|src|bootstrap|templates|skills|\.github)\/[\w./-]+)([*{]?)/g)]
  // What goes on with a pattern names many.
  const paths = named.flatMap(([, path = '', pattern]) => (pattern === '' ? [path.replace(/[./]+$/, '')] : []))
  expect(paths.length).toBeGreaterThan(3)
  expect(paths.filter((path) => !existsSync(join(project, path)))).toEqual([])
})
