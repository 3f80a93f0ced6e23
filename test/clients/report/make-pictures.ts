import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { execa } from 'execa'
import { readWorktreeReport, renderPage, renderServedPage, writePage } from '../../../src/cli/report.ts'
import { readPlanToDecide, serveReport } from '../../../src/cli/report-server.ts'
import { readGitDirs } from '../../../src/system/git-dirs.ts'
import { type Browser, openBrowser } from '../../support/chromium.ts'
import { project } from '../../support/project.ts'
import { keepExample } from '../../support/report/keep-example.ts'

/** `npm run pictures`: the pictures of the report in the README, from a history that is made up. */
const pictures = join(project, 'docs/pictures')
const mostBytes = 200_000

/** `served`: with the plan to be decided about, and a comment on a line of it. */
type Shot = {
  served?: true
  name: string
  width: number
  height: number
  theme: 'light' | 'dark'
  at: string
  above: number
}

const shots: readonly Shot[] = [
  { name: 'report-light', width: 1400, height: 860, theme: 'light', at: '#overview', above: 40 },
  { name: 'report-dark', width: 1400, height: 860, theme: 'dark', at: '#overview', above: 40 },
  { name: 'report-changes-light', width: 1400, height: 900, theme: 'light', at: '#c2-v3', above: 24 },
  { name: 'report-changes-dark', width: 1400, height: 900, theme: 'dark', at: '#c2-v3', above: 24 },
  { name: 'report-narrow', width: 700, height: 1100, theme: 'light', at: '#c2-v3', above: 24 },
  { name: 'report-serve', served: true, width: 1400, height: 930, theme: 'light', at: '#decide', above: 24 },
  { name: 'report-costs', width: 1400, height: 780, theme: 'light', at: '#c2-costs', above: 24 },
]

const folder = mkdtempSync(join(tmpdir(), 'pictures-'))
const browser = await openBrowser()
try {
  const pages = await exampleReports(join(folder, 'shop-sign-in'))
  mkdirSync(pictures, { recursive: true })
  for (const shot of shots) {
    const path = join(pictures, `${shot.name}.png`)
    await take(browser, shot.served ? pages.served : pages.report, shot, path)
    const { size } = statSync(path)
    if (size > mostBytes) throw new Error(`${path} has ${size} bytes, and ${mostBytes} are the most`)
    console.log(`${path}  ${size} bytes`)
  }
} finally {
  await browser.close()
  rmSync(folder, { recursive: true, force: true })
}

async function exampleReports(root: string): Promise<{ report: string; served: string }> {
  mkdirSync(root)
  await execa('git', ['init', '--quiet'], { cwd: root })
  await keepExample(root)
  const gitDirs = readGitDirs(root)
  if (gitDirs === null) throw new Error('no git directory')
  // Every picture of the same history is the same on every machine.
  const data = { ...readWorktreeReport(root, gitDirs), place: '~/work/shop-sign-in', made_at: '2026-03-03T10:31:07Z' }
  const report = writePage(renderPage(data), join(folder, 'report.html'))
  // Not approved any more.
  writeFileSync(join(root, 'docs/plan.md'), readFileSync(join(root, 'docs/plan.md'), 'utf8').replace('MULTI', 'WATCH'))
  const render = (token: string) =>
    renderServedPage(root, gitDirs, { ...readPlanToDecide(root), token, again: 'plan-gate report --serve' })
  return { report, served: (await serveReport({ root, gitDirs, idleMs: 30_000, render })).url }
}

async function take(
  from: Browser,
  path: string,
  { width, height, theme, at, above, served }: Shot,
  to: string,
): Promise<void> {
  const page = await from.newPage({ viewport: { width, height }, colorScheme: theme, timezoneId: 'UTC' })
  await page.goto(path.startsWith('http') ? path : pathToFileURL(path).href)
  if (served) {
    await page.click('[aria-label="Comment on line 16"]')
    await page.fill('.comment textarea', 'Why not in the database, which all instances share as well?')
  }
  const top = `document.querySelector('${at}').getBoundingClientRect().top + scrollY - ${above}`
  await page.evaluate(`scrollTo({ top: ${top}, behavior: 'instant' })`)
  await page.screenshot({ path: to })
  await page.close()
}
