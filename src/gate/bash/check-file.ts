import { type Refusal, refuse } from './refusal.ts'

/** Devices wait, never end or do something when they are read; much below /proc and /sys does too. */
const special = ['dev', 'proc', 'sys']
/** From inside a repository, `../../dev/…` may be its neighbour; these names are no neighbour's. */
const deviceNames = /^(console|fd|full|kcore|kmsg|mem|port|ptmx|random|std(in|out|err)|tty\w*|urandom|zero|\d+|self)$/

const secrets =
  /(^|[/:])(\.env(\.(local|production))?|\.netrc|\.pgpass|\.git-credentials|\.(aws|docker)\/(credentials|config\.json)|\.gnupg\/.+|(\.ssh\/)?id_(rsa|dsa|ecdsa|ed25519)(_\w+)?)$/

/** A file that a command is going to open. */
export function checkFile(path: string): Refusal | undefined {
  if (isSpecial(path))
    return refuse(
      'special-file',
      path,
      'is a device or a file of the kernel: reading it may never end',
      'Name ordinary files; /dev/null is the one exception.',
    )
  if (secrets.test(path))
    return refuse(
      'secret',
      path,
      'holds credentials, and what a command prints goes into the transcript',
      'A plan needs no secret: look at an example file, or ask the user.',
    )
  return undefined
}

function isSpecial(path: string): boolean {
  const names: string[] = []
  let above = 0
  for (const name of path.split('/')) {
    if (name === '..' && names.pop() === undefined) above += 1
    else if (name !== '' && name !== '.' && name !== '..') names.push(name)
  }
  const [top = '', next = ''] = names
  if (path.startsWith('/'))
    return names.length === 0 || (special.includes(top) && !(top === 'dev' && next === 'null' && names.length === 2))
  return above > 0 && special.includes(top) && deviceNames.test(next)
}
