import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../../../support/yaml-readers/', import.meta.url))
const bun = (): string | undefined =>
  ['linux-x64', 'linux-aarch64', 'darwin-aarch64']
    .map((system) => join(folder, 'node_modules/@oven', `bun-${system}`, 'bin/bun'))
    .find((path) => existsSync(path))

export const hasYamlReaders = (): boolean => bun() !== undefined

export type Reading = { readonly by: string; readonly value: unknown }

/** What Bun, whose reader Claude Code has, and js-yaml make of each text; nothing where it is no YAML for one of them. */
export function readElsewhere(texts: readonly string[]): readonly (readonly Reading[])[] {
  const program = bun()
  if (program === undefined) return texts.map(() => [])
  const place = mkdtempSync(join(tmpdir(), 'plan-gate-yaml-'))
  try {
    writeFileSync(join(place, 'texts'), JSON.stringify(texts))
    const { stdout, status } = spawnSync(program, [join(folder, 'read.mjs'), join(place, 'texts')], {
      maxBuffer: 1024 * 1024 * 1024,
    })
    if (status !== 0) throw new Error(`Bun ended with ${status}`)
    const readings = JSON.parse(stdout.toString()) as (readonly (string | null)[])[]
    return readings.map((both) =>
      both.flatMap((json, at) =>
        json === null ? [] : [{ by: at === 0 ? 'Bun' : 'js-yaml', value: JSON.parse(json) }],
      ),
    )
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}
