import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { onTestFinished } from 'vitest'
import type { Browser, Page } from '../../support/chromium.ts'

export type Watched = {
  page: Page
  /** Every address that was asked for. */
  requests: string[]
  /** Those of them that were not stopped. */
  answered: string[]
  /** What the console, the page's policy or a dialog said. */
  complaints: string[]
  /** The value of an expression in the page. */
  value: <T>(expression: string) => Promise<T>
  /** Until an expression is true. Asked from outside: the page's policy lets nobody poll inside of it. */
  until: (expression: string) => Promise<void>
}

type View = { width?: number; height?: number; theme?: 'light' | 'dark'; zone?: string }

/** A report, from disk or from a server, in a page that tells of everything it should not do. */
export async function openPage(browser: Browser, path: string, view: View = {}): Promise<Watched> {
  const { width = 1400, height = 1000, theme = 'light', zone = 'UTC' } = view
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: theme, timezoneId: zone })
  onTestFinished(() => page.close())
  const [requests, answered, complaints]: [string[], string[], string[]] = [[], [], []]
  page.on('request', (request) => requests.push(request.url()))
  page.on('requestfinished', (request) => answered.push(request.url()))
  page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`))
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('dialog', () => complaints.push('a dialog'))
  await page.goto(path.startsWith('http://') ? path : pathToFileURL(path).href)
  const value: Watched['value'] = async (expression) => (await page.evaluate(expression)) as never
  const until = async (expression: string): Promise<void> => {
    for (let tries = 0; tries < 400; tries += 1) {
      if (await value<boolean>(expression)) return
      await setTimeout(50)
    }
    throw new Error(`it never came about: ${expression}`)
  }
  return { page, requests, answered, complaints, value, until }
}
