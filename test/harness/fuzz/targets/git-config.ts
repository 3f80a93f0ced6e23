import { findChangedKeys, parseGitConfig } from '../../../../src/gate/drift.ts'
import { entriesForGit, type GitEntry } from '../oracle/entries-for-git.ts'
import { demand, type Failure, type Opened, type Target } from '../target.ts'

const config = `[core]
\trepositoryformatversion = 0
\tbare = false ; a comment
[remote "origin"]
\turl = https://example.com/x.git
\tfetch = +refs/heads/*:refs/remotes/origin/*
[diff "My\\"Driver"]
\ttextconv = "cat -v" # x
[alias] st = status
[core]
\tfsmonitor = a \\
 b
[filter "lfs"]
\tclean = git-lfs clean -- %f
\trequired
`
/** A config file of a repository: what git would run because of it must not stay unseen. */
export const gitConfig: Target = {
  name: 'git-config',
  seeds: [
    config,
    config.replaceAll('\n', '\r\n'),
    '',
    '[a]\nb',
    '[a "b\\\\"]\nc=d',
    '[a.b]\nc=1',
    '\ufeff[core]\nfsmonitor=x',
    '[core] ; x\nfsmonitor = y',
    '[core]fsmonitor=x',
    ...config.split('\n'),
  ],
  pieces: [
    '[core]',
    '[CORE]',
    '[core "x"]',
    '[alias]',
    '[diff "d"]',
    '[filter "f"]',
    '[include]',
    '[gpg]',
    '[hook "x"]',
    '\n',
    '\r\n',
    '\r',
    '\\\n',
    '\\',
    '"',
    '#',
    ';',
    '=',
    ' = ',
    '\t',
    'fsmonitor',
    'FsMonitor',
    'hooksPath',
    'textconv',
    'clean',
    'path',
    'x',
    '!sh',
    '\\t',
    '\\x',
    '[',
    ']',
    '.',
    '\ufeff',
    '\0',
    'é',
  ],
  parses: 3,
  open,
}

/** So many files go to git at once. */
const atOnce = 200

function open(): Opened {
  let waiting: string[] = []
  let asked = 0
  const values = new Map<string, string>()
  return {
    look: (text) => {
      const entries = parseGitConfig(text)
      const found = findChangedKeys({ configs: {}, hooks: {} }, { configs: { '/c': text }, hooks: {} })
      demand(
        findChangedKeys({ configs: { '/c': text }, hooks: {} }, { configs: { '/c': text }, hooks: {} }).length === 0,
        'the same file is not trusted',
      )
      if (waiting.length < atOnce) waiting.push(text)
      return `${entries?.length} ${found
        .map((key) => key.replace(/\.[^.]*\./, '.'))
        .join(' ')
        .slice(0, 60)}`
    },
    settle: () => {
      if (waiting.length < atOnce || asked > 200_000) return []
      const texts = waiting
      waiting = []
      asked += texts.length
      const entries = entriesForGit(texts)
      return texts.flatMap((text, index) => unseen(text, entries[index] ?? null, values))
    },
    figures: () => ({ 'asked of git': asked }),
  }
}

/** What git reads and the gate does not, or what the gate takes for the same and git does not. */
function unseen(text: string, forGit: readonly GitEntry[] | null, values: Map<string, string>): Failure[] {
  const ours = parseGitConfig(text)
  if (forGit === null || ours === null) return []
  const known = new Set(ours.map(({ key }) => key))
  const missing = forGit.filter(({ key }) => !known.has(key))
  if (missing.length > 0)
    return [{ input: text, why: `git reads ${JSON.stringify(missing).slice(0, 300)}, the gate does not` }]
  if (ours.length !== forGit.length) return []
  return ours.flatMap(({ key, value }, index) => {
    const said = forGit[index]?.value ?? ''
    const before = values.get(`${key}=${value}`) ?? said
    values.set(`${key}=${value}`, said)
    return forGit[index]?.key !== key || before === said
      ? []
      : [{ input: text, why: `${key} is ${JSON.stringify([before, said])} for git and the same for the gate` }]
  })
}
