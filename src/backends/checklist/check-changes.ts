import { isEmpty, linesUnder, sectionsNamed } from './check-sections.ts'
import { findHeads } from './find-heads.ts'
import { atLine, type ChecklistFinding, finding, firstOf } from './finding.ts'
import { looksLikeFile } from './looks-like-file.ts'
import type { Markdown, MarkdownLine } from './read-markdown.ts'
import { mayBeNew, readStatement, type Statement } from './read-statement.ts'

/** A path that the plan names under `## Changes`, as the gate reads it; a folder ends in a slash. */
export type PlannedChange = {
  readonly pattern: string
  readonly mark: 'new' | 'changed' | 'deleted' | 'renamed' | 'unstated'
  readonly line: number
}

/**
 * Each path that is to be changed is there. A section of prose names many things that look like paths, so only what
 * stands at the head of a line is looked for, and nothing is said where the plan may have meant a new file.
 */
export function checkChanges(
  markdown: Markdown,
  changes: readonly PlannedChange[],
  exists: (path: string) => boolean,
): ChecklistFinding[] {
  const section = sectionsNamed(markdown, 'Changes').flatMap((heading) => linesUnder(markdown, heading))
  if (changes.length === 0) return isEmpty(section) ? [] : [namesNothing(markdown)]
  const isThere = (pattern: string): boolean => exists(pattern.replace(/\/+$/, ''))
  const looked = changes.slice(0, mostChanges)
  const found = [...new Set(looked.map(({ line }) => line))].flatMap((number) => {
    const line = markdown.lines[number - 1]
    const named = looked.filter((change) => change.line === number)
    const entry: Entry = { line, heads: findHeads(line?.raw ?? '', named), section }
    return checkLine(entry, isThere)
  })
  const { shown, more } = firstOf(found, 12)
  return more.length === 0 ? [...shown] : [...shown, andMore(more)]
}

const mostChanges = 200

type Entry = {
  readonly line: MarkdownLine | undefined
  readonly heads: readonly PlannedChange[]
  readonly section: readonly MarkdownLine[]
}

function checkLine(entry: Entry, isThere: (pattern: string) => boolean): ChecklistFinding[] {
  // A drawing of folders, or an example.
  if (entry.line?.kind === 'code') return []
  const heads = entry.heads.filter(({ pattern }) => isExact(pattern))
  const stated = readStatement(entry.line)
  if (stated === 'renamed' || (stated === null && heads.some(({ mark }) => mark === 'renamed')))
    return checkRename(entry, heads, isThere)
  return heads.flatMap((change) => {
    const isFolder = change.pattern.endsWith('/')
    if (isThere(change.pattern)) return stated === 'new' && !isFolder ? [notNew(entry, change)] : []
    if (stated === 'new' || !looksLikeFile(change.pattern, isThere)) return []
    const isNew = change.mark === 'new' || mayBeNew(entry.line, change.pattern, entry.section)
    return stated === null && isNew ? [] : [notThere(entry, change, stated)]
  })
}

/** Of a renaming one side has to be there; which one depends on how far the work is. */
function checkRename(
  entry: Entry,
  heads: readonly PlannedChange[],
  isThere: (pattern: string) => boolean,
): ChecklistFinding[] {
  const [from, to] = heads
  const isSure = heads.every(({ pattern }) => looksLikeFile(pattern, isThere) && !isThere(pattern))
  if (from === undefined || to === undefined || !isSure) return []
  return [
    finding('major', 'Changes', {
      problem: `Neither \`${from.pattern}\` nor \`${to.pattern}\` exists, so there is nothing to rename.`,
      evidence: evidenceFor(entry, from),
      fix: `Correct the old path, or list \`${to.pattern}\` as new.`,
    }),
  ]
}

const notThere = (entry: Entry, change: PlannedChange, stated: Statement | null): ChecklistFinding => {
  const { pattern } = change
  const aim = stated === 'changed' || stated === 'deleted' ? `is to be ${stated}, but does not exist` : null
  return finding('major', 'Changes', {
    problem: `\`${pattern}\` ${aim ?? 'does not exist, and the plan does not say that it is new'}.`,
    evidence: evidenceFor(entry, change),
    fix:
      stated === 'deleted'
        ? 'Correct the path, or take the line out.'
        : `Correct the path, or write \`${pattern}\` (new).`,
  })
}

const notNew = (entry: Entry, change: PlannedChange): ChecklistFinding =>
  finding('minor', 'Changes', {
    problem: `\`${change.pattern}\` is said to be new, but exists already.`,
    evidence: evidenceFor(entry, change),
    fix: `Write \`${change.pattern}\` (changed), or choose another path for the new file.`,
  })

const andMore = (more: readonly ChecklistFinding[]): ChecklistFinding =>
  finding(more.some(({ severity }) => severity === 'major') ? 'major' : 'minor', 'Changes', {
    problem: `${more.length} more paths are not as the plan says.`,
    evidence: more
      .map(({ evidence }) => evidence.split(':')[0])
      .join(', ')
      .slice(0, 400),
    fix: 'Check the paths against the worktree.',
  })

/** The gate reads the same list after the approval, and takes the heading word for word. */
function namesNothing(markdown: Markdown): ChecklistFinding {
  const number = sectionsNamed(markdown, 'Changes')[0]?.number ?? 1
  const raw = markdown.lines[number - 1]?.raw ?? ''
  if (!/^ {0,3}##\s*changes\b/i.test(raw))
    return finding('major', 'Changes', {
      problem: 'The heading of the changes is written in a way that no file is found below it.',
      evidence: atLine(number, raw),
      fix: 'Write it as `## Changes`.',
    })
  return finding('major', 'Changes', {
    problem: '`## Changes` names no file.',
    evidence: `Line ${number} is the heading; no path follows it.`,
    fix: 'Give each file a line of its own, such as: - `src/login.ts` (changed): checks the password first',
  })
}

const evidenceFor = ({ line }: Entry, { pattern, line: number }: PlannedChange): string =>
  line === undefined ? `Line ${number}: ${pattern}` : atLine(number, line.raw)

/** A pattern may stand for anything. */
const isExact = (pattern: string): boolean => !/[*?{}[\]$%!=,]/.test(pattern)
