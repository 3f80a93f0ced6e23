import { files } from './files.ts'
import { find } from './find.ts'
import { gitHistory } from './git-history.ts'
import { gitPlumbing } from './git-plumbing.ts'
import { gitRefs } from './git-refs.ts'
import { lines } from './lines.ts'
import type { Rows } from './rows.ts'
import { search } from './search.ts'
import { shell } from './shell.ts'
import { streams } from './streams.ts'
import { text } from './text.ts'
import { words } from './words.ts'

export const families: { readonly [family: string]: Rows } = {
  search,
  files,
  text,
  streams,
  shell,
  find,
  'git history': gitHistory,
  'git refs': gitRefs,
  'git plumbing': gitPlumbing,
  words,
  lines,
}
