import { createHash } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const generated = new URL('../report/generated/', import.meta.url)
const page = new URL('../report/page/', import.meta.url)

/**
 * The style and the script of the report as texts, and the hashes that its policy knows them by. They stay as they were
 * written, so that whoever gets a report can read what runs in it.
 */
export async function buildReportPage(): Promise<void> {
  const [style, script] = [await bundlePart('report.css'), await bundlePart('main.ts')]
  for (const text of [style, script])
    if (/<\/(?:script|style)|<!--/i.test(text)) throw new Error('the page’s own parts must not end their elements')
  const parts = { style, styleHash: hashOf(style), script, scriptHash: hashOf(script) }
  await rm(generated, { recursive: true, force: true })
  await mkdir(generated, { recursive: true })
  await writeFile(new URL('page-parts.js', generated), `export const pageParts = ${JSON.stringify(parts, null, 2)}\n`)
  await writeFile(
    new URL('page-parts.d.ts', generated),
    "import type { PageParts } from '../render-report.ts'\nexport declare const pageParts: PageParts\n",
  )
}

async function bundlePart(name: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(name, page))],
    absWorkingDir: fileURLToPath(page),
    bundle: true,
    format: 'iife',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
    write: false,
  })
  return outputFiles[0]?.text ?? ''
}

const hashOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`
