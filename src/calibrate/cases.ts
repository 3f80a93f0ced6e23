import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readPlanScope } from '../gate/scope.ts'
import { sensitiveFileTest } from '../redact/sensitive-files.ts'
import { readIntent } from '../review/material.ts'
import { estimateTokens } from '../review/tokens.ts'
import { checkPlan } from '../reviewers/checklist/plan.ts'
import { finishedSchema } from '../schemas/records.ts'
import { readApproval } from '../state/approval.ts'
import { listCycles } from '../state/cycles.ts'
import { listNames, putFile, readJson, removePath } from '../state/files.ts'
import { reviewDir } from '../state/own-paths.ts'
import { readOpenedWorktree } from '../state/records.ts'
import { listRevisions, readRevision } from '../state/revisions.ts'
import { git, gitOrNull, readBlob } from '../system/git.ts'
import type { GitDirs } from '../system/git-dirs.ts'
import { packageRoot } from '../system/package.ts'
import { sha256 } from '../system/sha256.ts'
import { parseDiff } from '../text/diff.ts'
import { type ChangedFile, diffOf, makeCodeControl, seedCodeDefect } from './code-defects.ts'
import { makePlanControl, seedPlanDefect } from './plan-defects.ts'
import { type Random, seededRandom } from './statistics.ts'

export type Case = {
  readonly id: string
  readonly base: Base
  readonly control: ControlName | null
  /** null: a control. */
  readonly defect: Defect | null
  readonly content: string
  /** What stands in the folder that it may read, besides the project. */
  readonly files: readonly { readonly path: string; readonly text: string | null }[]
  readonly hash: string
}

type Choice = {
  readonly classes: readonly DefectClass[]
  /** Each defect and each control is made in so many bases. */
  readonly perClass: number
  readonly seed: string
  readonly requiredSections: readonly string[]
}

export const classesOf = (type: Base['type']): readonly DefectClass[] => (type === 'plan' ? planClasses : codeClasses)

/** One's own bases come first; which of them get which defect depends on the seed alone. */
export function chooseCases(
  bases: readonly Base[],
  { classes, perClass, seed, requiredSections }: Choice,
): readonly Case[] {
  const ordered = (name: string): readonly Base[] => {
    const shuffled = seededRandom(`${seed} ${name}`).shuffle(bases)
    return [
      ...shuffled.filter(({ origin }) => origin === 'own'),
      ...shuffled.filter(({ origin }) => origin === 'shipped'),
    ]
  }
  const defects = classes.flatMap((name) =>
    firstOf(ordered(name), perClass, (base) => makeCase(base, name, seed, requiredSections)),
  )
  const used = new Set(defects.map(({ base }) => base.id))
  const controls = controlNames.flatMap((name) => {
    const order = ordered(name)
    // Where there is a choice, those that got a defect: the two figures are about the same texts.
    const preferred = [...order.filter(({ id }) => used.has(id)), ...order.filter(({ id }) => !used.has(id))]
    return firstOf(preferred, perClass, (base) => makeCase(base, name, seed, requiredSections))
  })
  return [...defects, ...controls]
}

function firstOf(bases: readonly Base[], count: number, make: (base: Base) => Case | null): readonly Case[] {
  const made: Case[] = []
  for (const base of bases) {
    if (made.length >= count) break
    const one = make(base)
    if (one !== null) made.push(one)
  }
  return made
}

type CopyName = DefectClass | ControlName
type Copy = Pick<Case, 'defect' | 'content' | 'files'>

/** null: the base has no place for it. */
function makeCase(base: Base, name: CopyName, seed: string, sections: readonly string[]): Case | null {
  const random = seededRandom(`${seed} ${base.id} ${name}`)
  const copy = base.type === 'code' ? copyOfChange(base, name, random) : copyOfPlan(base, name, random, sections)
  if (copy === null) return null
  const hash = sha256(JSON.stringify([base.intent, copy.content]))
  return { id: `${base.id} ${name}`, base, control: controlOf(name), ...copy, hash }
}

const controlOf = (name: CopyName): ControlName | null => controlNames.find((each) => each === name) ?? null

function copyOfPlan(base: PlanBase, name: CopyName, random: Random, sections: readonly string[]): Copy | null {
  const control = controlOf(name)
  const facts = { exists: base.exists, hasRequest: base.intent !== null }
  const mutant = control === null ? seedPlanDefect(base.text, name as DefectClass, facts, random) : null
  const content = control === null ? mutant?.text : makePlanControl(base.text, control, random)
  if (content == null || isSeenByChecklist(base, content, sections)) return null
  const isToldInFile = base.origin === 'shipped' && base.intent !== null
  const request = isToldInFile ? [{ path: 'docs/request.md', text: base.intent }] : []
  return { defect: mutant?.defect ?? null, content, files: [{ path: 'docs/plan.md', text: content }, ...request] }
}

function copyOfChange(base: CodeBase, name: CopyName, random: Random): Copy | null {
  const control = controlOf(name)
  const mutant = control === null ? seedCodeDefect(base.files, name as DefectClass, random) : null
  const files = control === null ? mutant?.files : makeCodeControl(base.files, control)
  if (files == null) return null
  const after = new Map(files.map((file) => [file.path, file.after]))
  // A file that is gone from the change is as it was before it.
  const written = base.files.map(({ path, before }) => ({ path, text: after.get(path) ?? before }))
  return { defect: mutant?.defect ?? null, content: diffOf(files), files: written }
}

/** Such a text is handed back before any reviewer is asked, so it says nothing about one. */
function isSeenByChecklist(base: PlanBase, text: string, requiredSections: readonly string[]): boolean {
  const setup = { requiredSections, maxBytes: 1_000_000, readChanges: readPlanScope, exists: base.exists }
  const known = new Set(checkPlan(base.text, setup).map(({ problem }) => problem))
  return checkPlan(text, setup).some(({ problem }) => !known.has(problem))
}

export const planClasses = [
  'rollback-removed',
  'steps-swapped',
  'path-missing',
  'test-dropped',
  'goal-against-changes',
  'permission-widened',
  'failure-case-dropped',
  'two-writers',
  'caller-not-listed',
  'requirement-dropped',
] as const

export const codeClasses = [
  'await-dropped',
  'condition-negated',
  'bound-off-by-one',
  'check-removed',
  'error-swallowed',
  'tests-removed',
  'arguments-swapped',
  'validation-dropped',
  'resource-left-open',
] as const

export const controlNames = ['unchanged', 'paraphrased', 'edited'] as const

export type DefectClass = (typeof planClasses)[number] | (typeof codeClasses)[number]
export type ControlName = (typeof controlNames)[number]

/** What was done to a plan or a change, and where it shows. No reviewer gets to see it. */
export type Defect = {
  readonly class: DefectClass
  readonly section: string
  readonly sections: readonly string[]
  /** Of a change to code; null: of a plan. */
  readonly file: string | null
  /** As they are now: what was changed, and what stands beside a gap. */
  readonly lines: readonly number[]
  readonly why: string
  readonly was: string
  readonly is: string
}

type Common = {
  readonly id: string
  readonly origin: 'shipped' | 'own'
  /** What was asked for; null: it is not known. */
  readonly intent: string | null
  /** The commit whose files the reviewer may read; null: the project that is shipped. */
  readonly commit: string | null
  /** What is to be known of it when its figures are read. */
  readonly note: string | null
}

type PlanBase = Common & { readonly type: 'plan'; readonly text: string; readonly exists: (path: string) => boolean }
type CodeBase = Common & { readonly type: 'code'; readonly files: readonly ChangedFile[] }
export type Base = PlanBase | CodeBase

export const shippedFolder = (): string => join(packageRoot(), 'templates', 'calibration')

const shippedText = (...path: readonly string[]): string => readFileSync(join(shippedFolder(), ...path), 'utf8')
const shippedNames = (folder: string, pattern: RegExp, recursive = false): readonly string[] =>
  readdirSync(join(shippedFolder(), folder), { recursive, encoding: 'utf8' })
    .filter((name) => pattern.test(name))
    .sort()
const isShipped = (path: string): boolean => existsSync(join(shippedFolder(), 'project', path))
const ofShipped = { origin: 'shipped', commit: null, note: null } as const

export const readShippedPlans = (): readonly Base[] =>
  shippedNames('plans', /^(?!.*\.request\.md$).*\.md$/).map((name) => {
    const id = name.replace(/\.md$/, '')
    const [text, intent] = [shippedText('plans', name), shippedText('plans', `${id}.request.md`)]
    return { ...ofShipped, id, type: 'plan', text, intent, exists: isShipped }
  })

export const readShippedChanges = (): readonly Base[] =>
  shippedNames('changes', /^(?!.*\.md$)/).map((name) => {
    const files = shippedNames(`changes/${name}`, /\.\w+$/, true).map((path) => ({
      path,
      before: isShipped(path) ? shippedText('project', path) : null,
      after: shippedText('changes', name, path),
    }))
    return { ...ofShipped, id: `change-${name}`, type: 'code', files, intent: shippedText('changes', `${name}.md`) }
  })

type Place = {
  readonly root: string
  readonly folder: string
  readonly commit: string | null
  readonly intent: string | null
}

type OwnBases = { readonly bases: readonly Base[]; readonly notes: readonly string[] }

const maxOwn = 12
const maxPlanLength = 100_000

/** The plans that were approved here: in this worktree, its finished cycles, and what `plan-gate finish` has archived. */
export async function readOwnPlans(root: string, gitDirs: GitDirs, request: string | null): Promise<OwnBases> {
  const head = (await gitOrNull(root, ['rev-parse', '--verify', '--quiet', 'HEAD']))?.trim() ?? null
  if (head === null) return { bases: [], notes: [] }
  const opened = readOpenedWorktree(gitDirs.own)
  const commit = opened.kind === 'read' ? opened.value.base_commit : null
  const intent = readIntent(root, gitDirs.own, request).text
  const here: Place[] = [
    { root, folder: reviewDir, commit, intent },
    // What was asked for then is not known any more.
    ...listCycles(root).map(({ folder }) => ({ root, folder, commit, intent: null })),
  ]
  const bases: Base[] = []
  const notes: string[] = []
  for (const place of [...here, ...archives(gitDirs.common)]) {
    const text = approvedIn(place)
    if (
      text === null ||
      text.length > maxPlanLength ||
      bases.some((base) => base.type === 'plan' && base.text === text)
    )
      continue
    const known = await hasCommit(root, place.commit)
    const at = known ?? head
    const id = `own-${sha256(text).slice(0, 8)}`
    const entries = (await git(root, ['ls-tree', '-r', '-z', at])).split('\0')
    // Where it would be written, which must not lead out of the folder.
    const link = entries.find((entry) => /^120000 .*\tdocs(?:\/plan\.md)?$/s.test(entry))
    if (link !== undefined) {
      notes.push(`${id} is left out: ${link.replace(/^.*\t/s, '')} is a symbolic link.`)
      continue
    }
    const paths = new Set(entries.map((entry) => entry.replace(/^[^\t]*\t/, '')))
    bases.push({
      id,
      type: 'plan',
      origin: 'own',
      text,
      intent: place.intent,
      exists: (path) => paths.has(path) || [...paths].some((each) => each.startsWith(`${path}/`)),
      commit: at,
      note: known === null ? 'the commit that it was planned on is not known, so it is reviewed against HEAD' : null,
    })
    if (bases.length === maxOwn) break
  }
  return { bases, notes }
}

function archives(common: string): readonly Place[] {
  const home = 'plan-gate-archive'
  return listNames(common, home)
    .sort()
    .reverse()
    .flatMap((name) => {
      const root = join(common, home, name)
      const finished = readJson(root, 'finished.json', finishedSchema)
      const commit = finished.kind === 'read' ? finished.value.base_commit : null
      const cycles = listNames(root, 'history').filter((each) => /^cycle-\d+$/.test(each))
      return ['.', ...cycles.map((each) => `history/${each}`)].map((folder) => ({ root, folder, commit, intent: null }))
    })
}

function approvedIn({ root, folder }: Place): string | null {
  const read = readApproval(root, folder === '.' ? 'approval.json' : `${folder}/approval.json`)
  if (read.kind !== 'recorded' || read.approval.is_optimal !== true) return null
  for (const { revision } of listRevisions(root, folder).toReversed()) {
    const { snapshot } = readRevision(root, revision, folder)
    if (snapshot.kind === 'read' && sha256(snapshot.bytes) === read.approval.plan_hash)
      return snapshot.bytes.toString('utf8')
  }
  return null
}

const hasCommit = async (root: string, commit: string | null): Promise<string | null> =>
  commit !== null && (await gitOrNull(root, ['cat-file', '-e', `${commit}^{commit}`])) !== null ? commit : null

const maxFiles = 20
const [minLines, maxLines] = [2, 300]

/**
 * The last small commits with one parent; what was asked for is their message. What is longer than a reviewer is sent is
 * none: the changed lines may be among those that are cut away.
 */
export async function readOwnCommits(
  root: string,
  count: number,
  { sensitiveFiles, maxTokens }: { readonly sensitiveFiles: readonly string[]; readonly maxTokens: number },
): Promise<OwnBases> {
  const log = (await gitOrNull(root, ['log', '--no-merges', '--min-parents=1', '-n', '200', '--format=%H'])) ?? ''
  const isSensitive = sensitiveFileTest(sensitiveFiles)
  const bases: Base[] = []
  const notes: string[] = []
  for (const commit of log.split('\n').filter((line) => line !== '')) {
    if (bases.length === count) break
    const id = `commit-${commit.slice(0, 8)}`
    const changed = await readChanged(root, commit)
    const link = changed.find(({ isLink }) => isLink)
    if (link !== undefined)
      notes.push(`${id} is left out: ${JSON.stringify(link.path)} is a symbolic link or a submodule.`)
    const isWhole = changed.every(({ status, path, isLink }) => !isLink && status !== 'other' && !isSensitive(path))
    const lines = changed.reduce((sum, file) => sum + file.lines, 0)
    if (!isWhole || changed.length > maxFiles || lines < minLines || lines > maxLines) continue
    const files = await Promise.all(
      changed.map(async ({ status, path }) => ({
        path,
        before: status === 'added' ? null : await textAt(root, `${commit}^:${path}`),
        after: await textAt(root, `${commit}:${path}`),
      })),
    )
    const whole = files.flatMap(({ after, ...file }) => (after === null ? [] : [{ ...file, after }]))
    // A defect may make it a little longer, and the estimate may be a tenth off.
    if (whole.length < files.length || estimateTokens(diffOf(whole)) > maxTokens * 0.8) continue
    const intent = await git(root, ['log', '-1', '--format=%B', commit])
    bases.push({ id, type: 'code', origin: 'own', files: whole, intent, commit, note: null })
  }
  return { bases, notes }
}

type Changed = {
  readonly status: 'added' | 'modified' | 'other'
  readonly path: string
  readonly isLink: boolean
  readonly lines: number
}

async function readChanged(root: string, commit: string): Promise<readonly Changed[]> {
  const diff = await git(root, [
    ...['show', '--format=', '--no-renames', '--no-ext-diff', '--no-textconv', '--no-color'],
    ...['--src-prefix=a/', '--dst-prefix=b/', commit],
  ])
  return (parseDiff(diff)?.files ?? []).map((file) => {
    const head = diff.slice(file.start, file.headEnd)
    const isText = !/^(?:Binary files|GIT binary patch|deleted file)/m.test(head)
    const status = !isText ? 'other' : /^new file/m.test(head) ? 'added' : 'modified'
    const isLink = /^(?:index \S+|(?:new|deleted) file mode|old mode|new mode) 1[26]0000$/m.test(head)
    return { status, path: file.path, isLink, lines: file.added + file.removed }
  })
}

async function textAt(root: string, object: string): Promise<string | null> {
  const bytes = await readBlob(root, object)
  return bytes === null || bytes.includes(0) ? null : bytes.toString('utf8')
}

/** The project of a base as it was, in a folder without anything else. */
export async function checkOut(root: string, { commit }: Base, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (commit === null) return cpSync(join(shippedFolder(), 'project'), folder, { recursive: true })
  const index = join(dirname(folder), `.index-${commit}`)
  const env = { GIT_INDEX_FILE: index }
  await git(root, ['read-tree', commit], { env })
  await git(root, ['checkout-index', '--all', '--force', `--prefix=${folder}/`], { env, timeoutMs: 120_000 })
  rmSync(index, { force: true })
}

/** What one case has in place of another; null takes a file away. */
export function writeFiles(
  folder: string,
  files: readonly { readonly path: string; readonly text: string | null }[],
): void {
  for (const { path, text } of files) {
    // A link of the repository may lead out of the folder, and is refused.
    if (text === null) removePath(folder, path)
    else putFile(folder, path, text, 0o600)
  }
}
