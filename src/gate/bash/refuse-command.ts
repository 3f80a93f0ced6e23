import { type Refusal, refuse } from './refusal.ts'

/** What stands on no list, and what to use instead of the commands that are asked for most. */
export const refuseCommand = (name: string): Refusal =>
  refuse(
    'command',
    name,
    name.includes('/')
      ? 'is a path: only the bare names on the list are commands here'
      : 'is not on the list of commands that only read',
    Object.hasOwn(instead, name)
      ? (instead[name] ?? '')
      : 'Use rg, grep, ls, cat, find, git log … or the Read, Grep and Glob tools. The user can add a command under gate.bash.allow.',
  )

const instead: { readonly [name: string]: string } = {
  cd: 'Commands already run in the worktree: leave cd out and name paths.',
  awk: 'Use cut, sed -n, grep, or the Read tool.',
  xargs: 'Search directories directly: rg pattern src, or the Grep tool.',
  less: 'Use cat, or the Read tool.',
  more: 'Use cat, or the Read tool.',
  tee: 'What a command prints is shown to you.',
  printf: 'Use echo.',
  curl: 'Use the WebFetch tool.',
  wget: 'Use the WebFetch tool.',
}
