import { configFile, planPath } from '../state/own-paths.ts'

/** Target of a write, as it is named and with every symbolic link resolved. */
type Target =
  | { kind: 'resolved'; path: string; real: string; hardLinks: number }
  | { kind: 'unresolvable'; path: string; why: string }

/** A folder as it is named and with links resolved. Absolute, with `/` as the separator. */
type Folder = { readonly named: string; readonly real: string }

/** The folders and files that the gate protects or treats specially. */
export type ProtectedPaths = {
  /** The worktree. */
  readonly root: Folder
  /** The worktree's git directory and the one it shares with the main checkout. */
  readonly gitDirs: readonly string[]
  /** Folders with a `.claude` that Claude Code merges into this session: the main checkout. */
  readonly mergedRoots: readonly string[]
  /** The user's own configuration folder (`~/.claude`), and that of an administrator. */
  readonly userDirs: readonly string[]
  /** Files of the user that tell git and Claude Code what to run, and the program that reviews. */
  readonly userFiles: readonly string[]
  /** Where Claude Code may keep the plans of its plan mode: a file `<slug>.md` per session. */
  readonly planModeDirs: readonly Folder[]
}

export type PathKind =
  | { kind: 'plan' }
  | { kind: 'plan-by-a-link'; why: string }
  | { kind: 'plan-mode-plan'; slug: string }
  | { kind: 'control-plane'; part: string }
  | { kind: 'elsewhere' }
  | { kind: 'unresolvable'; why: string }

const insideRoot = [configFile, '.git']

/** What Claude Code loads from `.claude`, today or in a later version, but text, data and other checkouts. */
const openInProject = /^(?:rules|claude(?:\.local)?\.md|agent-memory(?:-local)?|plans|worktrees)$/
/** The user's texts are in every session of every project; an approved plan is about one. */
const openInUserDir = /^(?:agent-memory|plans|projects\/[^/]+\/memory)\//
/** Names of files and folders that Claude Code loads programs from, wherever they stand. */
const loadedNames = ['.mcp.json', '.lsp.json', '.claude-plugin']

export function classifyPath(target: Target, paths: ProtectedPaths): PathKind {
  if (target.kind === 'unresolvable') return { kind: 'unresolvable', why: target.why }
  const part = controlPlanePart(target.path, paths) ?? controlPlanePart(target.real, paths)
  if (part !== undefined) return { kind: 'control-plane', part }
  const inRoot = relativePaths(paths.root, target)
  if (inRoot.named === planPath) return classifyPlanPath(target, inRoot)
  for (const dir of paths.planModeDirs) {
    const steps = relativePaths(dir, target)
    const [, slug] = /^([^/]+)\.md$/.exec(steps.named ?? '') ?? []
    if (slug !== undefined && isPlainFile(target, steps)) return { kind: 'plan-mode-plan', slug }
  }
  return { kind: 'elsewhere' }
}

type Resolved = Extract<Target, { kind: 'resolved' }>
type RelativePaths = { named: string | undefined; real: string | undefined }

/** The target relative to a folder: as named (the folder may be named in either form) and with links resolved. */
const relativePaths = (folder: Folder, target: Resolved): RelativePaths => ({
  named: relativeTo(folder.named, target.path) ?? relativeTo(folder.real, target.path),
  real: relativeTo(folder.real, target.real),
})

function classifyPlanPath(target: Resolved, steps: RelativePaths): PathKind {
  if (steps.named !== steps.real) return { kind: 'plan-by-a-link', why: 'a symbolic link stands on the way to it' }
  if (target.hardLinks > 1) return { kind: 'plan-by-a-link', why: 'it has a second name (a hard link)' }
  return { kind: 'plan' }
}

const isPlainFile = (target: Resolved, steps: RelativePaths): boolean =>
  steps.named !== undefined && steps.named === steps.real && target.hardLinks <= 1

/** On macOS and Windows `.CLAUDE` opens `.claude`; on Linux this only refuses names that nobody uses. */
function controlPlanePart(path: string, paths: ProtectedPaths): string | undefined {
  const folded = foldCase(path)
  for (const root of [paths.root.named, paths.root.real, ...paths.mergedRoots]) {
    const inside = relativeTo(foldCase(root), folded)
    const part = inside === undefined ? undefined : partInWorktree(inside)
    if (part !== undefined) return part
  }
  if (paths.gitDirs.some((dir) => isAtOrBelow(foldCase(dir), folded))) return 'the git directory'
  const file = paths.userFiles.find((path) => foldCase(path) === folded)
  if (file !== undefined) return file
  for (const dir of paths.userDirs) {
    const inside = relativeTo(foldCase(dir), folded)
    if (inside !== undefined && !openInUserDir.test(inside)) return `${dir}/${inside}`
  }
  return undefined
}

function partInWorktree(inside: string): string | undefined {
  const listed = insideRoot.find((part) => isAtOrBelow(part, inside))
  if (listed !== undefined) return listed
  const names = inside.split('/')
  const loaded = names.findIndex((name, at) => name === '.claude' && !openInProject.test(names[at + 1] ?? ''))
  if (loaded !== -1) return names.slice(0, loaded + 2).join('/')
  const name = names.find((name) => loadedNames.includes(name))
  if (name !== undefined) return name
  // A submodule's or a nested repository's git directory can hold hooks and filters that git runs for this one.
  return names.includes('.git') ? 'a git directory' : undefined
}

const isAtOrBelow = (parent: string, path: string): boolean => path === parent || path.startsWith(`${parent}/`)

const relativeTo = (root: string, path: string): string | undefined =>
  path.startsWith(`${root}/`) ? path.slice(root.length + 1) : undefined

function foldCase(path: string): string {
  const folded = /^[\x20-\x7e]*$/.test(path) ? path.toLowerCase() : foldUnicode(path)
  return /:|[. ](?:\/|$)/.test(folded) ? folded.split('/').map(withoutWindowsSuffix).join('/') : folded
}

/** HFS+ ignores these; case twice: the long s and the like. Built here, because the pattern takes 0.3 ms. */
const foldUnicode = (path: string): string =>
  path
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toUpperCase()
    .toLowerCase()

/** Windows opens `name` for `name.`, `name ` and `name::$DATA`. */
const withoutWindowsSuffix = (name: string): string =>
  name.replace(/:.*$/, '').replace(/[. ]+$/, (tail) => (name === tail ? tail : ''))
