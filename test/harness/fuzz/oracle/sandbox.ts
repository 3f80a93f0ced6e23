import { spawnSync } from 'node:child_process'

/**
 * The same program as an ordinary user who has no network, sees no other processes and can write nowhere but into a fresh
 * folder, which is gone when it ends. Null where the system does not permit that.
 */
export const sandboxed = (folder: string, command: readonly string[]): readonly string[] | null =>
  canSandbox() ? [...unshare, 'sh', '-c', enter, 'sh', folder, ...command] : null

const unshare = ['unshare', '--map-root-user', '--mount', '--net', '--pid', '--fork', '--kill-child']

const enter = `
  mount --make-rprivate / || exit 90
  while read -r _ place _; do mount -o remount,bind,ro "$place" 2>/dev/null; done </proc/self/mounts
  mount -t tmpfs tmpfs "$1" && mount -t proc proc /proc || exit 91
  shift
  exec unshare --user --map-user=1000 --map-group=1000 "$@"
`

let known: boolean | undefined

function canSandbox(): boolean {
  const attempt = ['sh', '-c', enter, 'sh', '/mnt', 'sh', '-c', '! touch /tmp/.plan-gate-sandbox 2>/dev/null']
  known ??= spawnSync(unshare[0] ?? '', [...unshare.slice(1), ...attempt]).status === 0
  return known
}
