import { findProgram } from '../../../../src/system/environment.ts'

export type Shell = { readonly name: string; readonly program: string; readonly args: readonly string[] }

const plainBash = ['--norc', '--noprofile']
/** A pattern that went unseen would vanish, since there are no files. */
const everyPattern = ['-O', 'extglob', '-O', 'nullglob', '-O', 'globstar']

/** Those that Claude Code may find as the user's, as far as they are installed. */
export const shells: readonly Shell[] = [
  { name: 'bash', args: plainBash },
  { name: 'bash with every pattern on', args: [...plainBash, ...everyPattern] },
  { name: 'zsh', args: ['-f'] },
].flatMap(({ name, args }) => {
  const program = findProgram(name.split(' ', 1)[0] ?? '')
  return program === null ? [] : [{ name, program, args }]
})
