import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliDecompressSync } from 'node:zlib'
import { findProgram } from '../../src/system/environment.ts'
import { installLocked } from './install-locked.ts'

/** What the tests use of playwright-core, which is installed only when a test asks for a browser. */
export type Browser = {
  version: () => string
  newPage: (options?: {
    viewport?: { width: number; height: number }
    colorScheme?: Theme
    timezoneId?: string
  }) => Promise<Page>
  close: () => Promise<void>
}
type Theme = 'light' | 'dark'
export type Page = {
  goto: (url: string) => Promise<unknown>
  /** A JavaScript expression: the tests are not compiled for a browser. */
  evaluate: (expression: string) => Promise<unknown>
  click: (selector: string) => Promise<void>
  fill: (selector: string, text: string) => Promise<void>
  reload: () => Promise<unknown>
  selectOption: (selector: string, value: string) => Promise<unknown>
  keyboard: { press: (key: string) => Promise<void> }
  emulateMedia: (media: { media?: 'print' | 'screen' | null; colorScheme?: Theme | null }) => Promise<void>
  setViewportSize: (size: { width: number; height: number }) => Promise<void>
  screenshot: (options: { path?: string; fullPage?: boolean; clip?: object }) => Promise<Buffer>
  pdf: () => Promise<Buffer>
  on: (event: string, hear: (said: { url(): string; type(): string; text(): string; message: string }) => void) => void
  close: () => Promise<void>
}

/** A headless Chromium: the one of an npm package on Linux, and elsewhere the Chrome that is installed. */
export async function openBrowser(): Promise<Browser> {
  const folder = await ensureBrowser()
  const { chromium } = (await import(
    pathToFileURL(join(folder, 'node_modules', 'playwright-core', 'index.mjs')).href
  )) as { chromium: { launch: (options: object) => Promise<Browser> } }
  const own = unpackedIn(folder)
  return chromium.launch({
    args: ['--no-sandbox', '--disable-gpu', '--font-render-hinting=none'],
    ...(isPacked
      ? {
          executablePath: join(own, 'chromium'),
          env: {
            ...process.env,
            // What it needs beside libc: a machine without a desktop has none of it.
            LD_LIBRARY_PATH: join(own, 'lib'),
            FONTCONFIG_FILE: join(own, 'fonts.conf'),
          },
        }
      : installedChrome()),
  })
}

/** The text of axe-core, to be run in a page. */
export async function axeSource(): Promise<string> {
  return readFileSync(join(await ensureBrowser(), 'node_modules', 'axe-core', 'axe.min.js'), 'utf8')
}

async function ensureBrowser(): Promise<string> {
  try {
    return await installLocked('browser', unpack)
  } catch (error) {
    throw new Error(
      'The browser of the tests could not be installed: is there a network? See test/browser/package.json.',
      { cause: error },
    )
  }
}

/** The package brings a binary for this platform alone. */
const isPacked = process.platform === 'linux' && process.arch === 'x64'

const unpackedIn = (folder: string): string => join(folder, 'node_modules', '.chromium')

async function unpack(): Promise<void> {
  if (!isPacked) return
  const folder = join(import.meta.dirname, 'browser')
  const packed = join(folder, 'node_modules', '@sparticuz', 'chromium', 'bin')
  const own = unpackedIn(folder)
  rmSync(own, { recursive: true, force: true })
  mkdirSync(own, { recursive: true })
  const inflated = (name: string): Buffer => brotliDecompressSync(readFileSync(join(packed, name)))
  writeFileSync(join(own, 'chromium'), inflated('chromium.br'), { mode: 0o755 })
  for (const name of ['al2023.tar.br', 'fonts.tar.br'])
    execFileSync('tar', ['-x', '--no-same-owner', '-C', own], { input: inflated(name) })
  writeFileSync(join(own, 'fonts.conf'), fontsConfig(own))
}

/** The font of the package stands for whatever the system calls its own, so that pictures look alike everywhere. */
const fontsConfig = (own: string): string => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>${join(own, 'fonts')}</dir>
  <cachedir>${join(own, 'font-cache')}</cachedir>
${['system-ui', 'sans', 'sans-serif'].map(asOpenSans).join('\n')}
</fontconfig>
`

const asOpenSans = (family: string): string =>
  `<match target="pattern"><test name="family"><string>${family}</string></test>` +
  '<edit name="family" mode="prepend" binding="strong"><string>Open Sans</string></edit></match>'

function installedChrome(): object {
  if (process.platform !== 'linux') return { channel: 'chrome' }
  const found = ['chromium', 'chromium-browser', 'google-chrome'].map((name) => findProgram(name)).find((path) => path)
  if (found) return { executablePath: found }
  throw new Error('The report is tested with Chromium, and there is none here: apt-get install chromium')
}
