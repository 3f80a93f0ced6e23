import type { Profile, SandboxPlaces } from './profiles.ts'

/**
 * The profiles for macOS, as `sandbox-exec` reads them: the last rule that fits counts. Nobody has run them yet; the
 * canary decides whether they hold. There are no process namespaces: what outlives its approval is not ended.
 */
export function seatbeltProfile(profile: Exclude<Profile, 'rehearsal'>, places: SandboxPlaces): string {
  const { root, commonDir, caches, scratch, protectedPaths } = places
  const writable = [scratch, ...(profile === 'approved' ? [root, commonDir, ...caches] : [])]
  const kept = profile === 'approved' ? protectedPaths : []
  return [
    '(version 1)',
    '(allow default)',
    ...(profile === 'approved' ? [] : ['(deny network*)']),
    '(deny signal (target others))',
    '(deny file-write*)',
    '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/dtracehelper") (regex #"^/dev/tty"))',
    '(allow file-write* (literal (param "CWD_FILE")))',
    ...writable.map((path) => `(allow file-write* (subpath ${JSON.stringify(path)}))`),
    ...kept.map((path) => `(deny file-write* (subpath ${JSON.stringify(path)}))`),
    '',
  ].join('\n')
}

export const seatbelt = '/usr/bin/sandbox-exec'
