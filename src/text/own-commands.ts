/** In the order of the help. */
export const commandNames = [
  'bootstrap',
  'open',
  'trust',
  'untrust',
  'install',
  'uninstall',
  'finish',
  'doctor',
  'status',
  'watch',
  'log',
  'report',
  'diff',
  'approve',
  'findings',
  'waive',
  'continue',
  'verify',
  'drift',
  'explain',
  'review',
  'calibrate',
  'config',
  'routes',
  'schema',
  'completion',
  'demo',
] as const

export type CommandName = (typeof commandNames)[number]

/** Messages say `plan-gate status`; `start` is what starts plan-gate where they are read. */
export const withCommand = (text: string, start: string): string =>
  text.replace(named, (found, word: string) => (startsWith.includes(word) ? start : found))

const startsWith: readonly string[] = [...commandNames, '--help']
const named = /(?<=^|[\s`('":;,>|]|\u001b\[\d{1,2}m)(?:npx )?plan-gate(?= ([a-z]+|--help)\b)/gm

export const shellWord = (text: string): string =>
  /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
