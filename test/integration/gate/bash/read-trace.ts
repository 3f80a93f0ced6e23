import { basename } from 'node:path'

export type Trace = {
  /** The programs that were started, by their names. */
  readonly programs: readonly string[]
  /** Each attempt to write, to change a file or to reach a network, as strace has it. */
  readonly writes: readonly string[]
}

const changing = [
  ...['creat', 'unlink', 'unlinkat', 'rename', 'renameat', 'renameat2', 'mkdir', 'mkdirat', 'rmdir', 'link', 'linkat'],
  ...['symlink', 'symlinkat', 'chmod', 'fchmod', 'fchmodat', 'chown', 'fchown', 'lchown', 'fchownat', 'truncate'],
  ...['ftruncate', 'utimensat', 'utime', 'utimes', 'futimesat', 'mknod', 'mknodat', 'setxattr', 'lsetxattr'],
  ...['fsetxattr', 'removexattr', 'lremovexattr', 'fremovexattr', 'connect', 'bind', 'listen', 'mount', 'umount2'],
] as const

export const tracedCalls = ['execve', 'execveat', 'open', 'openat', 'openat2', ...changing].join(',')

/** What strace wrote about a command line. `base` holds the repository, a home and a place for temporary files. */
export function readTrace(text: string, base: string): Trace {
  const lines = text.split('\n').map((line) => line.replace(/^\d+ +/, ''))
  const started = [...text.matchAll(/execve(?:at)?\((?:\d+, )?"([^"]+)".*= 0$/gm)].map(([, path = '']) =>
    basename(path),
  )
  const writes = lines.filter(isWrite).filter((line) => !isHarmless(line.replaceAll(base, '')))
  return { programs: [...new Set(started)], writes }
}

const isWrite = (line: string): boolean =>
  /^open\w*\(/.test(line)
    ? /O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND/.test(line)
    : changing.some((call) => line.startsWith(`${call}(`))

/**
 * git writes down anew what it remembers of the files' times, tac keeps what comes by a pipe, the C library asks a
 * service for names, and a terminal is looked for.
 */
const isHarmless = (line: string): boolean =>
  /^open\w*\((?:AT_FDCWD, )?"\/dev\/(?:null|tty)"/.test(line) ||
  /^(?:openat\(AT_FDCWD, |unlink\()"(?:\/repo\/)?\.git\/index\.lock"/.test(line) ||
  /^rename\("(?:\/repo\/)?\.git\/index\.lock", "(?:\/repo\/)?\.git\/index"/.test(line) ||
  /^(?:openat\(AT_FDCWD, |unlink\()"\/tmp\/tac\w+"/.test(line) ||
  // How a thread is called.
  /^openat\(AT_FDCWD, "\/proc\/self\/task\/\d+\/comm"/.test(line) ||
  // Of a file that was opened for it, which was looked at then.
  /^ftruncate\(\d+, 0\) /.test(line) ||
  /^connect\(.*"\/var\/run\/nscd\/socket"/.test(line)
