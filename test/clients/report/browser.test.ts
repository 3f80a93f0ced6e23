import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readWorktreeReport, renderPage, writePage } from '../../../src/cli/report.ts'
import { pageParts } from '../../../src/report/generated/page-parts.js'
import { renderReport } from '../../../src/report/report.ts'
import { readGitDirs } from '../../../src/system/git-dirs.ts'
import { axeSource, type Browser, openBrowser } from '../../support/chromium.ts'
import { hostileData, hostileTexts, longLine } from '../../support/report/hostile-data.ts'
import { keepExample } from '../../support/report/keep-example.ts'
import { temporaryFolder, temporaryRepo } from '../../support/temporary-repo.ts'
import { keepLongHistory } from './keep-long-history.ts'
import { openPage, type Watched } from './open-page.ts'

let browser: Browser
let axe: string
beforeAll(async () => {
  browser = await openBrowser()
  axe = await axeSource()
}, 300_000)
afterAll(() => browser?.close())

async function reportOf(keep: (root: string) => Promise<void>): Promise<string> {
  const root = temporaryRepo()
  await keep(root)
  const gitDirs = readGitDirs(root)
  if (gitDirs === null) throw new Error('no git directory')
  return writePage(renderPage(readWorktreeReport(root, gitDirs)), join(temporaryFolder(), 'report.html'))
}

function hostilePage(): string {
  const path = join(temporaryFolder(), 'hostile.html')
  writeFileSync(path, renderReport(hostileData(), pageParts))
  return path
}

const text = (selector: string): string =>
  `document.querySelector(${JSON.stringify(selector)}).innerText.replace(/\\s+/g, ' ').trim()`
const texts = (selector: string): string =>
  `[...document.querySelectorAll(${JSON.stringify(selector)})].map((e) => e.innerText.replace(/\\s+/g, ' ').trim())`
const openAll = 'for (const each of document.querySelectorAll("details")) each.open = true'
const nextFrame = 'new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))'

describe('a report in a browser', { timeout: 60_000 }, () => {
  it('has each of its parts, and every link leads to one', async () => {
    const { value } = await openPage(browser, await reportOf(keepExample))
    expect(await value(texts('h1, main > section > h2, .cycle-head h2'))).toEqual([
      'shop',
      'The approved plan',
      'Cycle 2',
      'Cycle 1',
      'Compare any two revisions',
      'Approvals',
      'Denials by session',
      'Ledger check',
    ])
    expect(await value(texts('#c2 h3'))).toEqual([
      'Revisions',
      'Findings and their outcomes',
      'Time and tokens',
      'Timeline',
    ])
    expect(await value(texts('#overview .step'))).toEqual([
      '✎ v1 Changes required',
      '✎ v2 Changes required',
      '✓ v3 Approved',
    ])
    const ids = await value<string[]>('[...document.querySelectorAll("[id]")].map(({ id }) => id)')
    expect(new Set(ids).size).toBe(ids.length)
    const links = await value<string[]>('[...document.querySelectorAll("a")].map((a) => a.getAttribute("href"))')
    expect(links.filter((link) => !ids.includes(link.slice(1)))).toEqual([])
  })

  it('asks for nothing but itself, and nothing complains', async () => {
    const path = await reportOf(keepExample)
    const { page, requests, complaints, value } = await openPage(browser, path)
    await value(openAll)
    await page.click('#compare-tool .choices button')
    await value(nextFrame)
    expect([requests, complaints]).toEqual([[pathToFileURL(path).href], []])
  })

  it('shows what changed, with each finding at its line and its outcome', async () => {
    const { page, value } = await openPage(browser, await reportOf(keepExample))
    expect(await value(texts('#c2-v3 .line-text.came:not(.none)'))).toContain(
      'outage. An alert fires when that lasts longer than a minute.',
    )
    expect(await value(texts('#c2-v3 .note-head'))).toEqual([
      'F4 critical fixed in v3',
      'F5 advice fixed in v3',
      'F6 advice open',
      'F3 minor fixed in v3',
    ])
    const above = 'document.querySelector("#c2-v3 .note").closest("tr").previousSibling.innerText'
    expect(await value(above)).toMatch(/^16\s+Count wrong passwords in Redis/)
    expect(await value(texts('#c2-v3 .word'))).toContain('against a real Redis')
    expect(await value('document.querySelector("#c2-v1 table")')).toBeNull()
    await page.click('#c2-v2 .changes-title')
    await value(nextFrame)
    expect(await value(texts('#c2-v2 .note-head'))).toContain('F1 critical fixed in v2')
    await page.click('#c2-v2 .tools button:nth-child(2)')
    expect(await value(texts('#c2-v2 thead th'))).toEqual(['v1', 'v2', 'Text'])
    await page.click('#c2-v2 .tools button:nth-child(3)')
    expect(await value('document.querySelectorAll("#c2-v2 .folded").length')).toBe(0)
  })

  it('compares any two revisions, of different cycles as well', async () => {
    const { page, value } = await openPage(browser, await reportOf(keepExample))
    await page.selectOption('#compare-tool label:nth-child(1) select', '0')
    await page.selectOption('#compare-tool label:nth-child(2) select', '2')
    await page.click('#compare-tool .choices button')
    expect(await value(texts('#compare-tool thead th'))).toEqual(['Line', 'cycle 1, v1', 'Line', 'cycle 2, v2'])
    await page.selectOption('#compare-tool label:nth-child(1) select', '2')
    expect(await value(text('#compare-tool .viewer'))).toContain('The two texts are the same.')
  })

  it('tells times in the zone of the reader, and what it was in UTC', async () => {
    const { value } = await openPage(browser, await reportOf(keepExample), { zone: 'Asia/Kolkata' })
    expect(await value(text('#c1 .dated time'))).toBe('')
    await value(openAll)
    expect(await value(text('#c1 .dated time'))).toBe('2026-03-03 14:42:04')
    expect(await value('document.querySelector("#c1 .dated time").title')).toBe('2026-03-03 09:12:04 UTC')
    expect(await value(text('#zone'))).toBe('Times are those of your time zone, Asia/Calcutta.')
  })

  it('shows the problem of a finding in one line, and the rest on demand', async () => {
    const { page, value } = await openPage(browser, await reportOf(keepExample), { width: 600 })
    const height = 'document.querySelector("#c2-v1 .found summary").getBoundingClientRect().height'
    expect(await value<number>(height)).toBeLessThan(30)
    expect(await value(text('#c2-v1 .found details'))).toMatch(/^The service runs in four instances/)
    await page.click('#c2-v1 .found summary')
    expect(await value<number>(height)).toBeGreaterThan(30)
    expect(await value(text('#c2-v1 .found details'))).toMatch(/Evidence .* Fix /)
    // No dash of the steps stands before the first of a row.
    expect(await value('getComputedStyle(document.querySelector(".steps")).overflow')).toBe('hidden')
  })

  it('can be used by the keyboard alone', async () => {
    const { page, value } = await openPage(browser, await reportOf(keepExample))
    await page.keyboard.press('Tab')
    expect(await value('document.activeElement.className')).toBe('skip')
    expect(await value('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid')
    expect(await value('document.activeElement.getBoundingClientRect().top >= 0')).toBe(true)
    await page.keyboard.press('Enter')
    expect(await value('document.activeElement.id')).toBe('main')
    const seen = await tabThrough({ page, value }, 60)
    for (const words of ['✎ v1 Changes required', 'F1', '3 passes, details', 'Side by side', 'Show 12 unchanged lines'])
      expect(seen).toContain(words)
    const focus = (selector: string): Promise<unknown> => value(`document.querySelector('${selector}').focus()`)
    await focus('#c2-v1 .changes-title')
    await page.keyboard.press('Enter')
    await value(nextFrame)
    expect(await value('document.querySelectorAll("#c2-v1 .diff").length')).toBe(1)
    await focus('#c2-v3 .more')
    await page.keyboard.press('Enter')
    expect(await value('document.activeElement.innerText.trim()')).toMatch(/^1\s+# Limit sign-in attempts/)
  })

  it('opens what a link leads into', async () => {
    const { page, value, until } = await openPage(browser, await reportOf(keepExample))
    await page.click('#approvals a[href="#c1-v1"]')
    await until('document.querySelector("#c1 details").open')
    await until('Math.abs(document.getElementById("c1-v1").getBoundingClientRect().top) < 200')
    expect(await value('location.hash')).toBe('#c1-v1')
  })

  it('is light or dark as the system is', async () => {
    const { page, value } = await openPage(browser, await reportOf(keepExample), { theme: 'dark' })
    const paper: string[] = []
    for (const scheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme: scheme })
      paper.push(await value<string>('getComputedStyle(document.body).backgroundColor'))
    }
    expect(paper).toEqual(['rgb(20, 23, 26)', 'rgb(250, 249, 246)'])
  })

  it('can be printed, with what is folded away laid open', async () => {
    const { page, value } = await openPage(browser, await reportOf(keepExample), { theme: 'dark' })
    await value(
      'addEventListener("beforeprint", () => { window.laidOpen = document.querySelectorAll("details[open]").length })',
    )
    const before = await value<number>('document.querySelectorAll("details[open]").length')
    expect((await page.pdf()).subarray(0, 5).toString()).toBe('%PDF-')
    expect(await value<number>('window.laidOpen')).toBeGreaterThan(before)
    expect(await value('document.querySelectorAll("details[open]").length')).toBe(before)
    await page.emulateMedia({ media: 'print' })
    expect(await value('getComputedStyle(document.querySelector(".contents")).display')).toBe('none')
    expect(await value('getComputedStyle(document.querySelector("#c2-v3 .diff")).display')).toBe('table')
    expect(await value('getComputedStyle(document.querySelector("h1")).color')).toBe('rgb(32, 37, 43)')
  })

  it.each([
    { theme: 'light', width: 1400 },
    { theme: 'dark', width: 1400 },
    { theme: 'light', width: 600 },
    { theme: 'dark', width: 600 },
  ] as const)('has no fault that axe-core knows of: $theme, $width wide', async ({ theme, width }) => {
    const { value } = await openPage(browser, await reportOf(keepExample), { theme, width })
    await value(openAll)
    await value(nextFrame)
    await value(axe)
    const { violations, passes } = await value<AxeResult>('axe.run()')
    const faults = violations.map(
      ({ id, impact, nodes }) => `${impact} ${id}: ${nodes.map(({ html }) => html).join(' ')}`,
    )
    expect(faults).toEqual([])
    expect(passes.length).toBeGreaterThan(20)
  })
})

type AxeResult = { violations: { id: string; impact: string; nodes: { html: string }[] }[]; passes: unknown[] }

/** What has the focus after each press of the key. */
async function tabThrough({ page, value }: Pick<Watched, 'page' | 'value'>, presses: number): Promise<string[]> {
  const seen: string[] = []
  for (let press = 0; press < presses; press += 1) {
    await page.keyboard.press('Tab')
    seen.push(await value('document.activeElement.innerText.replace(/\\s+/g, " ").trim()'))
  }
  return seen
}

describe('hostile text in a browser', { timeout: 60_000 }, () => {
  it.each([1400, 700, 400])('runs nothing, asks for nothing and widens nothing at %i', async (width) => {
    const path = hostilePage()
    const { page, requests, complaints, value } = await openPage(browser, path, { width })
    await value(openAll)
    await page.click('#compare-tool .choices button')
    await value('for (const each of document.querySelectorAll(".tools button:nth-child(1)")) each.click()')
    await value(nextFrame)
    expect(await value('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    expect(await value('typeof window.__pwned')).toBe('undefined')
    expect([requests, complaints]).toEqual([[pathToFileURL(path).href], []])
    expect(
      await value('document.querySelectorAll("main script, main img, main iframe, main style, main form").length'),
    ).toBe(0)
    expect(await value('getComputedStyle(document.body).display')).toBe('block')
  })

  it('would be stopped by the policy of the page, had it become markup', async () => {
    const path = hostilePage()
    // No policy forbids a page to go elsewhere, as the `meta` does.
    const markup = hostileTexts.filter((each) => !each.includes('<meta')).join('')
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace('</main>', () => `${markup}</main>`),
    )
    const { answered, complaints, value } = await openPage(browser, path)
    await value(nextFrame)
    expect([answered, await value('typeof window.__pwned')]).toEqual([[pathToFileURL(path).href], 'undefined'])
    expect(complaints.filter((words) => words.includes('Content Security Policy')).length).toBeGreaterThan(3)
  })

  it('is shown as what it is', async () => {
    const { page, value } = await openPage(browser, hostilePage())
    await page.click('#c2-v4 .tools button:nth-child(3)')
    const lines = await value<string[]>(texts('#c2-v4 .line-text'))
    expect(lines).toContain('</script><script>window.__pwned = 2</script>')
    expect(lines).toContain('user⟨U+202E⟩⟨U+2066⟩ evitcelfer⟨U+2069⟩ ⟨U+200B⟩⟨U+FEFF⟩')
    expect(await value(text('h1'))).toContain('<img src=x onerror="window.__pwned = 3">')
  })

  it('of ten thousand characters in a line is shown when somebody asks for it', async () => {
    const { value } = await openPage(browser, hostilePage())
    const clipped = 'document.querySelector("#c2-v4 .line-text .more")'
    expect(await value(`${clipped}.innerText`)).toBe(`… show all ${(10_000).toLocaleString('en')} characters`)
    const cell = `(window.cell ??= ${clipped}.closest("td"))`
    expect(await value(`${cell}.innerText.length`)).toBeLessThan(2_100)
    await value(`${cell}.querySelector("button").click()`)
    expect(await value(`${cell}.innerText`)).toBe(longLine)
    expect(await value('document.documentElement.scrollWidth')).toBe(1400)
  })
})

describe('fifty revisions of 200 kB', { timeout: 120_000 }, () => {
  it('open, and only what is looked at comes into the page', async () => {
    const since = performance.now()
    const path = await reportOf(keepLongHistory)
    const opened = performance.now()
    const { page, complaints, value, until } = await openPage(browser, path)
    const rows = (selector: string): Promise<number> =>
      value(`document.querySelectorAll('${selector} tbody tr').length`)
    expect(await rows('#c1-v50')).toBeGreaterThan(100)
    expect(await value('document.querySelector("#c1-v50 .small").textContent')).toMatch(/\b(?:19\d|20\d)\.\d kB/)
    const usable = performance.now()
    expect(await value('document.querySelectorAll(".revision").length')).toBe(50)
    expect(await value('document.querySelectorAll(".diff").length')).toBe(1)
    await page.click('#c1-v25 .changes-title')
    await until('document.querySelector("#c1-v25 tbody tr") !== null')
    await page.click('#c1-v25 .tools button:nth-child(3)')
    const shown = await rows('#c1-v25')
    expect(shown).toBeLessThanOrEqual(401)
    await page.click('#c1-v25 tr:last-child .more')
    expect(await rows('#c1-v25')).toBe(shown + 400)
    const compared = performance.now()
    await page.click('#compare-tool .choices button')
    expect(await rows('#compare-tool')).toBeGreaterThan(300)
    const done = performance.now()
    expect(complaints).toEqual([])
    const ms = (from: number, to: number): string => `${Math.round(to - from)} ms`
    console.log(
      `fifty revisions: written in ${ms(since, opened)} with their history, usable after ${ms(opened, usable)}, ` +
        `the first compared with the last in ${ms(compared, done)}`,
    )
  })
})
