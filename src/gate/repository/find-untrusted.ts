import { type ConfigEntry, parseGitConfig } from './parse-git-config.ts'

/** What can make git run a program: the text of each config file, and a digest of each hook. Null for a file that is gone. */
export type RepositorySetup = {
  readonly configs: { readonly [path: string]: string }
  readonly hooks: { readonly [path: string]: string }
}

/**
 * Keys by which even `git status` or `git diff` starts a program, or reads its configuration from yet another place.
 * What of them was there when the worktree was opened is the user's own.
 */
const programKeys =
  /^(?:alias\..+|core\.(?:alternaterefscommand|askpass|attributesfile|editor|fsmonitor|gitproxy|hookspath|pager|sshcommand|worktree)|credential\..+|diff\.external|diff\..+\.(?:command|textconv)|extensions\..+|filter\..+\.(?:clean|process|smudge)|gpg\.(?:.+\.)?program|hook\..+|include\.path|includeif\..+|interactive\.difffilter|log\.showsignature|merge\..+\.driver|pager\..+|remote\..+\.(?:promisor|uploadpack|vcs)|sequence\.editor|submodule\..+\.update|uploadpack\.packobjectshook|url\..+)$/

/** What `git lfs install` writes, to the letter. */
const lfs = new Set([
  'filter.lfs.clean=git-lfs clean -- %f',
  'filter.lfs.smudge=git-lfs smudge -- %f',
  'filter.lfs.process=git-lfs filter-process',
])

/** The keys and hooks that are new or different, by name. Empty in nearly every call. */
export function findUntrusted(before: RepositorySetup, now: RepositorySetup): string[] {
  const configs = Object.entries(now.configs).flatMap(([path, text]) =>
    before.configs[path] === text ? [] : newKeys(path, before.configs[path] ?? '', text),
  )
  const hooks = Object.entries(now.hooks).flatMap(([path, digest]) =>
    before.hooks[path] === digest ? [] : [`the hook ${nameOf(path)}`],
  )
  return [...new Set([...configs, ...hooks])]
}

function newKeys(path: string, before: string, now: string): string[] {
  const [old, entries] = [parseGitConfig(before), parseGitConfig(now)]
  if (entries === null) return [`${path} (it cannot be read)`]
  const known = new Set((old ?? []).map(asText))
  return entries
    .filter(
      (entry) => programKeys.test(entry.key.toLowerCase()) && !known.has(asText(entry)) && !lfs.has(asText(entry)),
    )
    .map(({ key }) => key)
}

const asText = ({ key, value }: ConfigEntry): string => `${key}=${value}`
const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
