import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { ReviewedWorktree } from '../../support/reviewed-worktree.ts'

/** How a test can bring it about here: root may mount in most containers, and the others are stopped by permissions. */
export const fullDiskBy: 'a small tmpfs' | 'a folder without permission to write' | 'nothing that works here' =
  canMount()
    ? 'a small tmpfs'
    : process.getuid?.() === 0 || process.platform === 'win32'
      ? 'nothing that works here'
      : 'a folder without permission to write'

function canMount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  const folder = mkdtempSync(join(tmpdir(), 'full-disk-'))
  try {
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', folder]).status === 0
    return mounted && spawnSync('umount', [folder]).status === 0
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

type Disk = { fill: () => void; free: () => void }

/** For `.claude/review`. */
export const ownDisk = (worktree: ReviewedWorktree): Disk =>
  fullDiskBy === 'a small tmpfs' ? mounted(worktree) : permitted(worktree)

function mounted({ at }: ReviewedWorktree): Disk {
  const folder = at('.claude/review')
  const aside = mkdtempSync(join(tmpdir(), 'full-disk-'))
  cpSync(folder, aside, { recursive: true })
  run('mount', '-t', 'tmpfs', '-o', 'size=1m,mode=700', 'none', folder)
  onTestFinished(() => run('umount', '--lazy', folder))
  cpSync(aside, folder, { recursive: true })
  rmSync(aside, { recursive: true, force: true })
  const ballast = join(folder, 'ballast')
  return {
    fill: () => {
      try {
        writeFileSync(ballast, Buffer.alloc(2 * 1024 * 1024))
      } catch {
        // It is full now.
      }
    },
    free: () => rmSync(ballast),
  }
}

function permitted({ at }: ReviewedWorktree): Disk {
  const folder = at('.claude/review')
  const free = (): void => chmodSync(folder, 0o700)
  onTestFinished(free)
  return { fill: () => chmodSync(folder, 0o500), free }
}

function run(file: string, ...args: string[]): void {
  const { status, stderr } = spawnSync(file, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${file} ${args.join(' ')}: ${stderr}`)
}
