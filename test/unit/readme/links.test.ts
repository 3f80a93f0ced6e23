import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { project } from '../../support/project.ts'

const pages = readdirSync(join(project, 'docs')).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : []))
const documents = ['README.md', '.github/SECURITY.md', '.github/CONTRIBUTING.md', ...pages]
const textOf = (document: string): string => readFileSync(join(project, document), 'utf8')

describe.each(documents)('%s', (document) => {
  it('names files that exist', () => {
    const named = [
      ...textOf(document).matchAll(/`((?:test|src|bootstrap|templates|skills|\.github)\/[\w./-]+)([*{]?)/g),
    ]
    // What goes on with a pattern names many.
    const paths = named.flatMap(([, path = '', pattern]) => (pattern === '' ? [path.replace(/[./]+$/, '')] : []))
    expect(paths.filter((path) => !existsSync(join(project, path)))).toEqual([])
  })

  it('links to pages, headings and pictures that exist', () => {
    const links = [...textOf(document).matchAll(/(?:\]\(|src=")([^)"\s]+)/g)].map(([, link = '']) => link)
    const broken = links.filter((link) => !/^https?:/.test(link) && !isThere(document, link))
    expect(broken).toEqual([])
  })
})

function isThere(document: string, link: string): boolean {
  const [page = '', anchor] = link.split('#')
  const target = page === '' ? document : join(dirname(document), page)
  if (!existsSync(join(project, target))) return false
  return anchor === undefined || headingsOf(textOf(target)).includes(anchor)
}

/** As GitHub makes them. */
const headingsOf = (markdown: string): string[] =>
  [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

it('the README is short, and leads to every page', () => {
  expect(statSync(join(project, 'README.md')).size).toBeLessThanOrEqual(12_000)
  const internal = ['docs/attacks.md', 'docs/fault-table.md']
  expect(pages.filter((page) => !internal.includes(page) && !textOf('README.md').includes(`](${page})`))).toEqual([])
})
