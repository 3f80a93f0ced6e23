import { spawnSync } from 'node:child_process'
import { readdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findProgram } from '../../system/environment.ts'
import { unlessAbsent } from '../../system/errors.ts'

/** A bubblewrap; the one that Codex brings along first, because it is newer than most systems' own. */
export function findEngine(): string | null {
  if (process.platform !== 'linux') return null
  const found = [...codexEngines(), findProgram('bwrap')].find((path) => path !== null && isUsable(path))
  return found ?? null
}

function isUsable(path: string): boolean {
  const run = spawnSync(path, ['--help'], { encoding: 'utf8', timeout: 5_000 })
  return run.status === 0 && run.stdout.includes('--disable-userns')
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
