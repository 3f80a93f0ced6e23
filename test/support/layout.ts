import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { project } from './project.ts'

/**
 * The import rule: a folder imports from folders of a lower level. `gate` stands above `state`, because it decides on
 * values that `state` reads; nobody imports the top.
 */
const levels: readonly (readonly string[])[] = [
  ['build', 'cli', 'hooks', 'bootstrap'],
  ['calibrate', 'install', 'plan', 'reflect', 'report'],
  ['review'],
  ['reviewers'],
  ['gate'],
  ['config'],
  ['state'],
  ['redact'],
  ['text', 'system'],
  ['schemas'],
]

export type SourceFile = {
  /** Relative to the project, with `/`. */
  readonly path: string
  readonly folder: string
  readonly lines: number
  /** What it imports of ours, types included. */
  readonly imports: readonly string[]
  /** What it loads of ours as it starts: no types, nothing that is imported on demand. */
  readonly loads: readonly string[]
  /** Whether it loads validators or page parts that only the build makes. */
  readonly loadsGenerated: boolean
  /** What it imports of node and of packages. */
  readonly packages: readonly string[]
}

export function readSources(project: string): SourceFile[] {
  const paths = ['src', 'bootstrap'].flatMap((top) =>
    readdirSync(join(project, top), { recursive: true, encoding: 'utf8' }).map((path) =>
      posix.join(top, path.replaceAll('\\', '/')),
    ),
  )
  const sources = paths.filter((path) => path.endsWith('.ts') && !path.includes('/generated/'))
  return sources.map((path) => read(project, path, new Set(sources)))
}

function read(project: string, path: string, all: ReadonlySet<string>): SourceFile {
  const text = readFileSync(join(project, path), 'utf8')
  const statements = [...text.matchAll(/^(?:import|export)\b(?: ?([^;'"=()]*?)\bfrom)? '([^']+)'/gm)]
  const lazy = [...text.matchAll(/\bimport\('([^']+)'\)/g)].map(([, name = '']) => name)
  const names = [...statements.map(([, , name = '']) => name), ...lazy]
  // Generated code is no source, and the build writes import lines as text.
  const ours = (list: readonly string[]): string[] =>
    [...new Set(list.map((name) => posix.join(posix.dirname(path), name)))].filter((target) => all.has(target))
  return {
    path,
    folder: folderOf(path),
    lines: text.split('\n').length - 1,
    imports: ours(names),
    loads: ours(statements.filter(([, clause = '']) => !isOfTypes(clause)).map(([, , name = '']) => name)),
    loadsGenerated: statements.some(([, clause = '', name = '']) => name.includes('/generated/') && !isOfTypes(clause)),
    packages: names.filter((name) => !name.startsWith('.')),
  }
}

/** `type { … }`, or braces in which each name is a type. */
function isOfTypes(clause: string): boolean {
  if (/^type\b/.test(clause)) return true
  const names = /^\{([^}]*)\}\s*$/.exec(clause)?.[1]?.split(',') ?? []
  return names.length > 0 && names.every((name) => /^\s*(?:type\b|$)/.test(name))
}

const folderOf = (path: string): string => {
  const [top = '', second = ''] = path.split('/')
  return top === 'src' ? second : top
}

const levelOf = (path: string): number => levels.findIndex((folders) => folders.includes(folderOf(path)))

/** Imports that go upwards, or to another folder of the same level. */
export const forbiddenImports = (sources: readonly SourceFile[]): string[] =>
  sources.flatMap(({ path, folder, imports }) =>
    imports
      .filter((target) => {
        if (folderOf(target) === folder) return false
        // What is wired at the top may be wired together: the command line starts bootstrap, the build reads the entries.
        const [from, to] = [levelOf(path), levelOf(target)]
        return from === -1 || to === -1 || (from === 0 ? to === 0 && !isTopImport(folder, target) : to <= from)
      })
      .map((target) => `${path} → ${target}`),
  )

const isTopImport = (folder: string, target: string): boolean =>
  (folder === 'cli' && folderOf(target) === 'bootstrap') || folder === 'build'

/** Everything that a file loads as it starts, itself included. */
export function loadedWith(sources: readonly SourceFile[], path: string, found = new Set<string>()): Set<string> {
  const loads = sources.find((file) => file.path === path)?.loads ?? []
  found.add(path)
  for (const target of loads) if (!found.has(target)) loadedWith(sources, target, found)
  return found
}

/** Files that load each other as they start, whichever way round: `a → b` where b leads back to a. */
export function circularLoads(sources: readonly SourceFile[]): string[] {
  const byPath = new Map(sources.map((file) => [file.path, file]))
  const reachable = (path: string, found = new Set<string>()): Set<string> => {
    for (const target of byPath.get(path)?.loads ?? []) if (!found.has(target)) reachable(target, found.add(target))
    return found
  }
  return sources.flatMap(({ path, loads }) =>
    loads.filter((target) => reachable(target).has(path)).map((target) => `${path} → ${target}`),
  )
}

/** The longest chain of files that load one another as they start, both ends included. There are no circles. */
export function longestChain(sources: readonly SourceFile[]): readonly string[] {
  const byPath = new Map(sources.map((file) => [file.path, file]))
  const found = new Map<string, readonly string[]>()
  const chainFrom = (path: string): readonly string[] => {
    const known = found.get(path)
    if (known !== undefined) return known
    const below = (byPath.get(path)?.loads ?? []).map(chainFrom)
    const chain = [path, ...below.reduce((longest, each) => (each.length > longest.length ? each : longest), [])]
    found.set(path, chain)
    return chain
  }
  return sources.map(({ path }) => chainFrom(path)).reduce((a, b) => (b.length > a.length ? b : a), [])
}

/** The folders with the files that stand directly in them. */
export function filesByFolder(sources: readonly SourceFile[]): Map<string, SourceFile[]> {
  const groups = new Map<string, SourceFile[]>()
  for (const file of sources) {
    const folder = posix.dirname(file.path)
    groups.set(folder, [...(groups.get(folder) ?? []), file])
  }
  return groups
}

/** `npm run layout`: how large the source is, and whether it keeps the import rule. */
function printLayout(): void {
  const sources = readSources(project)
  const sumOf = (files: typeof sources): number => files.reduce((sum, { lines }) => sum + lines, 0)
  const bySize = [...sources].sort((a, b) => b.lines - a.lines)
  const median = bySize[Math.floor(bySize.length / 2)]?.lines
  const largest = bySize.slice(0, 5).map(({ path, lines }) => `${path} ${lines}`)
  const chain = longestChain(sources)
  const forbidden = forbiddenImports(sources)
  const hooksImportedBy = sources.filter(
    ({ folder, imports }) => folder !== 'hooks' && imports.some((path) => path.startsWith('src/hooks/')),
  )

  console.log(`files ${sources.length}, lines ${sumOf(sources)}, median ${median}`)
  console.log(`largest: ${largest.join(', ')}`)
  console.log(`longest import chain (without types): ${chain.length} files\n  ${chain.join('\n  ')}`)
  console.log(`src/hooks is imported by: ${hooksImportedBy.map(({ path }) => path).join(', ') || 'nobody'}`)
  console.log(`imports against the rule: ${forbidden.length}${forbidden.map((line) => `\n  ${line}`).join('')}`)
  for (const [folder, files] of [...filesByFolder(sources)].sort())
    console.log(
      `${folder.padEnd(26)} ${String(files.length).padStart(3)} files ${String(sumOf(files)).padStart(6)} lines`,
    )
}

if (process.argv[1] === import.meta.filename) printLayout()
