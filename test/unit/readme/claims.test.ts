import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { project } from '../../support/project.ts'

const { scripts } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as { scripts: object }
const pages = readdirSync(join(project, 'docs')).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : []))
const textOf = (document: string): string => readFileSync(join(project, document), 'utf8')

type Section = { readonly heading: string; readonly text: string; readonly above: readonly string[] }

/** The text below each heading, and that below the headings it stands under; blocks of code are examples. */
function sectionsOf(document: string): Section[] {
  const [intro = '', ...parts] = textOf(document)
    .replace(/^```[\s\S]*?^```/gm, '')
    .split(/^(#+ .+)$/m)
  const open: { level: number; text: string }[] = [{ level: 0, text: intro }]
  return parts.flatMap((heading, index) => {
    if (index % 2 === 1) return []
    const [level, text] = [heading.indexOf(' '), parts[index + 1] ?? '']
    while ((open.at(-1)?.level ?? -1) >= level) open.pop()
    const above = open.map((section) => section.text)
    open.push({ level, text })
    return [{ heading: `${document} ${heading}`, text, above }]
  })
}

const sectionOf = (document: string, heading: string): string =>
  sectionsOf(document).find((section) => section.heading === `${document} ${heading}`)?.text ??
  expect.unreachable(heading)

/** Tests that there are, and commands that somebody can run to see it. */
const proofsIn = (text: string): string[] =>
  [...text.matchAll(/\btest\/[\w./-]*\w|npm run ([\w:-]+)|`plan-gate (?:verify|doctor|demo)\b/g)].flatMap(
    ([proof, script]) => ((script === undefined ? isProof(proof) : script in scripts) ? [proof] : []),
  )

function isProof(path: string): boolean {
  if (!path.startsWith('test/')) return true
  if (path.endsWith('.ts')) return existsSync(join(project, path))
  const folder = join(project, path)
  return existsSync(folder) && readdirSync(folder, { recursive: true }).some((name) => `${name}`.endsWith('.test.ts'))
}

describe('what is claimed names its test or command', () => {
  it('each guarantee of the README', () => {
    const claims = sectionOf('README.md', '## What it guarantees').split(/^- /m).slice(1)
    expect(claims.length).toBeGreaterThan(5)
    expect(claims.filter((claim) => proofsIn(claim).length === 0)).toEqual([])
  })

  it('each promise of SECURITY.md', () => {
    const table = sectionOf('.github/SECURITY.md', '## What is promised, and where it is tested')
    const rows = table.split('\n').filter((line) => /^\| (?!promise \|)/.test(line))
    expect(rows.length).toBeGreaterThan(30)
    expect(rows.filter((row) => proofsIn(row.split(' | ').at(-1) ?? '').length === 0)).toEqual([])
  })

  it.each(['docs/security-model.md', 'docs/attacks.md'])('each section of %s, or the text above it', (document) => {
    const isLimit = ({ heading }: Section): boolean => /not (?:protect|closed)/.test(heading)
    const sections = sectionsOf(document).filter((section) => section.text.trim() !== '' && !isLimit(section))
    const without = sections.filter(({ text, above }) => [text, ...above].every((each) => proofsIn(each).length === 0))
    expect(without.map(({ heading }) => heading)).toEqual([])
  })

  it('each section with a figure that was measured', () => {
    // The keys and their defaults are held to the schema by another test, and an interval of 95 % is a definition.
    const measured = ['README.md', ...pages].filter((page) => page !== 'docs/configuration.md').flatMap(sectionsOf)
    const figures = measured.filter(({ text }) => /\d ?(?:ms|×)(?!\w)|× \d|\d (?:input )?tokens/.test(text))
    expect(figures.length).toBeGreaterThan(1)
    expect(figures.filter(({ text }) => proofsIn(text).length === 0).map(({ heading }) => heading)).toEqual([])
  })
})
