import { posix } from 'node:path'
import { patternMark, refuse } from './refusal.ts'

/** Reading a device can wait, never end or have an effect; so can much below /proc and /sys. */
const special = ['dev', 'proc', 'sys']
/** `../../dev/…` may be a neighbouring project; these device names are not. */
const deviceNames = /^(console|fd|full|kcore|kmsg|mem|port|ptmx|random|std(in|out|err)|tty\w*|urandom|zero|\d+|self)$/

const secrets =
  /(^|[/:])(\.env(\.(local|production))?|\.netrc|\.pgpass|\.git-credentials|\.(aws|docker)\/(credentials|config\.json)|\.gnupg\/.+|(\.ssh\/)?id_(rsa|dsa|ecdsa|ed25519)(_\w+)?)$/

/** What a pattern with a first letter of its own may stand for. */
const secretNames =
  '.env .env.local .env.production .netrc .pgpass .git-credentials .aws .docker .gnupg .ssh id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk'.split(
    ' ',
  )
const secretFolders = ['.aws', '.docker', '.gnupg', '.ssh']

/** A file that the command opens, seen from the worktree's root and from each of these folders. */
export function checkFile(operand: string, directories: readonly string[]): void {
  const isPattern = operand.startsWith(patternMark)
  const path = isPattern ? operand.slice(1) : operand
  const places = path.startsWith('/') ? [path] : [path, ...directories.map((directory) => `${directory}/${path}`)]
  if (isPattern && places.some(reachesTooFar))
    refuse('glob', path, 'has a pattern where a whole disk lies below', 'Name the folder above it.')
  if (places.some(isSpecial))
    refuse(
      'special-file',
      path,
      'is a device or a file of the kernel: reading it may never end',
      'Name ordinary files; /dev/null is the one exception.',
    )
  if (places.some((place) => secrets.test(posix.normalize(place)) || (isPattern && mayBeSecret(place))))
    refuse(
      'secret',
      path,
      'holds credentials, and what a command prints goes into the transcript',
      'A plan needs no secret: look at an example file, or ask the user.',
    )
}

const isGlob = (name: string): boolean => /[*?[]/.test(name)

/** `/d?/zero`, `../?/x`: from the root, or from above, a pattern may lead to a device. */
function reachesTooFar(path: string): boolean {
  const names = path.split('/')
  const first = names.findIndex(isGlob)
  const isWholeDisk = path.startsWith('/') && !/^\/[^/*?[]+\//.test(posix.normalize(path))
  return isWholeDisk || names[first - 1] === '..' || names.slice(first).includes('..')
}

function mayBeSecret(path: string): boolean {
  const names = path.split('/')
  const patterns = names.filter((name) => isGlob(name) && !/^\*+$/.test(name)).map(toRegExp)
  return (
    names.some((name) => secretFolders.includes(name)) ||
    patterns.some((pattern) => secretNames.some((name) => pattern.test(name)))
  )
}

function toRegExp(name: string): RegExp {
  const literal = name.replace(/\[[^\]]*\]/g, '?').replace(/[\\^$.+(){}|\]]/g, '\\$&')
  return new RegExp(`^${literal.replaceAll('?', '.').replace(/\*+/g, '.*')}$`)
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
  return above > 0 && special.includes(top) && (deviceNames.test(next) || isGlob(next))
}
