import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { lock } from 'proper-lockfile'
import { project as root } from './project.ts'

/**
 * The packages of `test/<name>/package.json`, unless that very lockfile was installed before; a second caller waits for
 * the first. `finish` is what has to be done once after the install.
 */
export async function installLocked(name: string, finish: () => Promise<void> = async () => {}): Promise<string> {
  const folder = join(import.meta.dirname, name)
  if (await isInstalled(folder)) return folder
  await mkdir(join(root, 'node_modules'), { recursive: true })
  const release = await lock(folder, {
    lockfilePath: join(root, 'node_modules', `.test-${name}.lock`),
    retries: { retries: 240, factor: 1, minTimeout: 500 },
  })
  try {
    if (await isInstalled(folder)) return folder
    await execa('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder, timeout: 300_000 })
    await finish()
    await writeFile(stampOf(folder), await lockfileDigest(folder))
    return folder
  } finally {
    await release()
  }
}

const stampOf = (folder: string): string => join(folder, 'node_modules', '.installed-from')

async function isInstalled(folder: string): Promise<boolean> {
  return (await readFile(stampOf(folder), 'utf8').catch(() => '')) === (await lockfileDigest(folder))
}

async function lockfileDigest(folder: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(join(folder, 'package-lock.json')))
    .digest('hex')
}
