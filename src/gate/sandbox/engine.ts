import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { unlessAbsent } from '../../system/errors.ts'
import { findProgram } from '../../system/find-program.ts'

/** A bubblewrap. It is copied, so that nothing can replace it. */
export type Engine = {
  readonly path: string
  readonly bytes: Buffer
  /** Whether what a command writes can be thrown away: test and build runners work then. */
  readonly hasOverlays: boolean
}

/** The one that Codex brings along first, because it is newer than most systems' own. */
export function findEngine(): Engine | null {
  if (process.platform !== 'linux') return null
  for (const path of [...codexEngines(), findProgram('bwrap')]) {
    const help = path === null ? null : helpOf(path)
    if (path !== null && help?.includes('--disable-userns'))
      return { path, bytes: readFileSync(path), hasOverlays: help.includes('--tmp-overlay') }
  }
  return null
}

function helpOf(path: string): string | null {
  const run = spawnSync(path, ['--help'], { encoding: 'utf8', timeout: 5_000 })
  return run.status === 0 ? run.stdout : null
}

/** `npm i @openai/codex` installs a package for this platform beside or below its own. */
function codexEngines(): string[] {
  const codex = findProgram('codex')
  if (codex === null) return []
  const home = dirname(dirname(unlessAbsent(() => realpathSync(codex), codex)))
  const packages = [join(home, 'node_modules/@openai'), dirname(home), join(dirname(home), '@openai')]
  const vendors = packages.flatMap((folder) =>
    namesIn(folder)
      .filter((name) => name.startsWith(`codex-${process.platform}-${process.arch}`))
      .map((name) => join(folder, name, 'vendor')),
  )
  return [...vendors, join(home, 'vendor')].flatMap((vendor) =>
    namesIn(vendor).map((target) => join(vendor, target, 'codex-resources/bwrap')),
  )
}

const namesIn = (folder: string): string[] => unlessAbsent(() => readdirSync(folder), [])
