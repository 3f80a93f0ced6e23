import { lstatSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { CompiledConfig, EffectiveConfig } from '../config/schema.ts'
import type { ProtectedPaths } from '../gate/protected-paths.ts'
import { isSecurityPath } from '../review/complexity.ts'
import type { PostToolUse, PostToolUseFailure } from '../schemas/hook-events.ts'
import type { Effort } from '../schemas/review.ts'
import { readRegular } from '../state/files.ts'
import { planPath } from '../state/own-paths.ts'
import { loadBundle } from '../system/load-bundle.ts'
import { resolvePath } from '../system/paths.ts'
import { sha256 } from '../system/sha256.ts'
import { clipEnd } from '../text/clean.ts'
import { dedupText } from '../text/dedup-text.ts'
import type { ReflectionMaterial } from './ask.ts'
import { type Change, type ChangeSize, type ClassifiedEvent, classifyEvent, type ToolEvent } from './classify.ts'
import type { ReflectionKind } from './reflection-kinds.ts'
import type { Subject } from './session-state.ts'
import { failKey } from './values.ts'

/** What there is to look at. `material` is as it came: nothing of it is redacted yet. */
export type ReflectionSubject = {
  readonly kind: ReflectionKind
  readonly subject: Subject
  readonly material: Omit<ReflectionMaterial, 'hints' | 'canRead'>
  /** Only asked for when somebody is to look: its many patterns cost milliseconds to compile. */
  readonly weigh: () => Weight
}

type Found =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'matter'; readonly matter: ReflectionSubject }
  /** A command that may have failed before. */
  | { readonly kind: 'succeeded'; readonly key: string }

const nothing: Found = { kind: 'nothing' }

export async function selectSubject(
  root: string,
  event: PostToolUse | PostToolUseFailure,
  compiled: CompiledConfig,
): Promise<Found> {
  const command = event.tool_input.command
  const isShell = event.tool_name === 'Bash' || event.tool_name === 'PowerShell'
  if (event.hook_event_name === 'PostToolUse' && isShell && typeof command === 'string')
    return { kind: 'succeeded', key: keyOfCommand(command) }
  const plan = readRegular(root, planPath)
  if (plan.kind !== 'read') return nothing
  const planText = plan.bytes.toString('utf8')
  const place = placeIn(root, event.cwd ?? root)
  const classified = classifyEvent(asToolEvent(event), {
    isThePlan: (path) => place(path) === planPath,
    isPlanFile: (path) => isPlanFile(resolve(event.cwd ?? root, path), compiled),
    placeOf: place,
    sensitiveFiles: (compiled.config as EffectiveConfig).review.sensitive_files,
  })
  const matter = await subjectOf(classified, planText, place, compiled)
  return matter === null ? nothing : { kind: 'matter', matter }
}

export const asToolEvent = (event: PostToolUse | PostToolUseFailure): ToolEvent => {
  const isFailure = event.hook_event_name === 'PostToolUseFailure'
  return {
    event: event.hook_event_name,
    tool: event.tool_name,
    input: event.tool_input,
    response: isFailure ? null : event.tool_response,
    error: isFailure ? (event.error ?? '') : '',
    interrupted: isFailure && event.is_interrupt === true,
  }
}

async function subjectOf(
  classified: ClassifiedEvent,
  plan: string,
  place: Place,
  compiled: CompiledConfig,
): Promise<ReflectionSubject | null> {
  switch (classified.kind) {
    case 'skip':
      return null
    case 'code-change':
      return changeSubject(classified.change, plan, place(classified.change.path) ?? classified.change.path)
    case 'plan-review':
      return planSubject(classified, plan)
    case 'thinking':
      return {
        kind: 'thinking',
        subject: { hash: null, key: null, about: clipEnd(classified.tool, 200) },
        material: { content: classified.thought, about: classified.tool, plan, ...nothingElse },
        weigh: () => ({ model: 'fast', effort: 'high', hints: [] }),
      }
    case 'subagent':
      return {
        kind: 'subagent',
        subject: { hash: null, key: null, about: clipEnd(classified.agent, 200) },
        material: { content: classified.answer, about: classified.task, plan, ...nothingElse },
        weigh: () => ({ model: 'review', effort: 'high', hints: [] }),
      }
    case 'bash-failure': {
      const { command, error } = classified
      return {
        kind: 'failure',
        subject: { hash: null, key: keyOfCommand(command), about: await shown(command, compiled) },
        material: { content: error, about: command, plan, ...nothingElse },
        weigh: () => ({ model: 'review', effort: 'high', hints: [] }),
      }
    }
  }
}

const nothingElse = { result: null, changes: null, waiting: [] } as const

/** The same change is judged anew under another plan. */
function changeSubject(change: Change, plan: string, path: string): ReflectionSubject {
  const { tool, content, oldString, newString, shown: text, size } = change
  return {
    kind: 'change',
    subject: {
      hash: sha256(`${sha256(plan)} ${dedupText(tool, path, content, oldString, newString)}`),
      key: failKey({ kind: 'file', path }),
      about: path,
    },
    material: { content: text, about: path, plan, ...nothingElse },
    weigh: () => weighChange(path, size),
  }
}

/** What plan mode presented has become docs/plan.md, and was reviewed as that. */
function planSubject(
  { path, text }: Extract<ClassifiedEvent, { kind: 'plan-review' }>,
  plan: string,
): ReflectionSubject | null {
  const content = text ?? (path === null ? null : readPlanOnTheWay(path))
  if (content === null || content.trim() === '' || content.trim() === plan.trim()) return null
  const about = path ?? 'of plan mode'
  return {
    kind: 'plan',
    subject: { hash: null, key: failKey({ kind: 'file', path: about }), about },
    material: { content, about, plan, ...nothingElse },
    weigh: () => ({ model: 'review', effort: 'high', hints: [] }),
  }
}

function readPlanOnTheWay(path: string): string | null {
  const read = readRegular(dirname(path), path.slice(dirname(path).length + 1))
  return read.kind === 'read' ? read.bytes.toString('utf8') : null
}

/** A path as seen from the worktree, with links followed; null outside of it and in what is not part of the work. */
type Place = (path: string) => string | null

const placeIn = (root: string, cwd: string): Place => {
  const base = resolvePath(root)
  return (path) => {
    const target = resolvePath(resolve(cwd, path))
    if (target.kind !== 'resolved' || base.kind !== 'resolved') return null
    const inside = target.real.startsWith(`${base.real}/`) ? target.real.slice(base.real.length + 1) : null
    return inside === null || /^\.(?:git|claude\/(?:review|hooks))(?:\/|$)/.test(inside) ? null : inside
  }
}

function isPlanFile(path: string, { protected_paths: paths }: CompiledConfig): boolean {
  const target = resolvePath(path)
  return (paths as ProtectedPaths).planModeDirs.some(({ named, real }) => {
    const found = target.kind === 'resolved' ? lstatSync(target.real, { throwIfNoEntry: false }) : undefined
    const candidate = {
      path,
      folder: named,
      realPath: target.kind === 'resolved' && found !== undefined ? target.real : null,
      realFolder: real,
      isRegularFile: found?.isFile() === true,
    }
    return judgePlanPath(candidate).kind === 'plan'
  })
}

const keyOfCommand = (command: string): string => failKey({ kind: 'command', hash: sha256(command) })

/** What is kept and said of a command. Redacted first: half a secret would not be known for one. */
async function shown(command: string, { config }: CompiledConfig): Promise<string> {
  const { reviews } = await loadBundle<{ reviews: typeof import('../redact/redact.ts') }>('./reviews.mjs')
  const clean = reviews.makeRedactor((config as EffectiveConfig).review.redaction.patterns).text(command)
  return clean.kind === 'redacted' ? clipEnd(clean.text, 200) : 'a command that cannot be shown'
}

/** What the file system says about the candidate; nothing here looks for itself. */
export type PlanCandidate = {
  /** As it was named, absolute. */
  readonly path: string
  /** The folder of the plans, absolute. */
  readonly folder: string
  /** Both with every link resolved; null where there is nothing (yet). */
  readonly realPath: string | null
  readonly realFolder: string | null
  readonly isRegularFile: boolean
}

type PlanPath = { readonly kind: 'plan'; readonly path: string } | { readonly kind: 'rejected'; readonly why: string }

/** A plan is a Markdown file that lies directly below the folder of the plans, and nowhere else by way of a link. */
export function judgePlanPath({ path, folder, realPath, realFolder, isRegularFile }: PlanCandidate): PlanPath {
  if (/[\0\r\n]/.test(path)) return rejected('its name has control characters')
  if (!path.startsWith('/') && !/^[A-Za-z]:[\\/]/.test(path)) return rejected('it is not an absolute path')
  if (partsOf(path).some((part) => part === '..' || part === '.')) return rejected('it goes by way of . or ..')
  const name = nameBelow(path, folder)
  if (name === null) return rejected(`it does not lie directly below ${folder}`)
  if (!/^[^.].*\.md$/s.test(name)) return rejected('it is not a Markdown file')
  if (realPath === null || realFolder === null || !isRegularFile) return rejected('it is no file')
  return nameBelow(realPath, realFolder) === name
    ? { kind: 'plan', path }
    : rejected('it is a link, or lies behind one that leads elsewhere')
}

const rejected = (why: string): PlanPath => ({ kind: 'rejected', why })

const partsOf = (path: string): string[] => path.split(/[\\/]/)

function nameBelow(path: string, folder: string): string | null {
  const above = partsOf(folder.replace(/[\\/]+$/, ''))
  const parts = partsOf(path)
  const name = parts.pop()
  return name !== undefined && name !== '' && parts.join('/') === above.join('/') ? name : null
}

export type FileKind = 'security' | 'data' | 'tests' | 'config' | 'ui' | 'docs' | 'other'

export type Weight = {
  readonly model: 'review' | 'fast'
  readonly effort: Effort
  /** Questions for the reviewer, in our words. */
  readonly hints: readonly string[]
}

/** Who looks at a change, and how hard. `path` is seen from the worktree: what lies above it says nothing. */
export function weighChange(path: string, size: ChangeSize): Weight {
  const row = weights[kindOfFile(path)]
  const hints = [...row.hints, ...hintsFor(size)]
  if (isLarge(size)) return { model: 'review', effort: higher[row.effort], hints }
  return { model: isSmall(size) ? row.whenSmall : row.model, effort: row.effort, hints }
}

type Models = {
  /** Set by the user for everything; wins over the weight. */
  readonly override: string | null
  readonly review: string | null
  readonly fast: string | null
}

/** A name for the weight. A fast model is given time to think: it is cheap, and shallow without. */
export function chooseReflectionModel(
  { model: wanted, effort }: Pick<Weight, 'model' | 'effort'>,
  { override, review, fast }: Models,
): { readonly model: string | null; readonly effort: Effort } {
  const model = override ?? (wanted === 'fast' ? (fast ?? review) : review)
  return { model, effort: model !== null && model === fast ? atLeastHigh[effort] : effort }
}

const atLeastHigh: { readonly [effort in Effort]: Effort } = {
  low: 'high',
  medium: 'high',
  high: 'high',
  xhigh: 'xhigh',
}

const higher: { readonly [effort in Effort]: Effort } = { low: 'medium', medium: 'high', high: 'xhigh', xhigh: 'xhigh' }

type Row = Weight & { readonly whenSmall: Weight['model'] }

const weights: { readonly [kind in FileKind]: Row } = {
  security: {
    model: 'review',
    whenSmall: 'review',
    effort: 'xhigh',
    hints: [
      'This file guards something. Who gets in, or learns something, who could not before?',
      'Is anything compared, parsed or trusted before it is checked? Is a secret written, logged or sent?',
    ],
  },
  data: {
    model: 'review',
    whenSmall: 'review',
    effort: 'xhigh',
    hints: [
      'This touches data that exists. What happens to rows that are there already, and how is it taken back?',
      'Does it hold while old and new code run side by side, and if it stops halfway?',
    ],
  },
  config: {
    model: 'review',
    whenSmall: 'review',
    effort: 'high',
    hints: ['This is configuration. Does each key exist in the program that reads it, and what did it rely on before?'],
  },
  tests: {
    model: 'review',
    whenSmall: 'fast',
    effort: 'medium',
    hints: [
      'This is a test. Would it fail if the code were wrong? Is an assertion weaker, skipped or gone that was there before?',
    ],
  },
  ui: {
    model: 'review',
    whenSmall: 'fast',
    effort: 'medium',
    hints: ['People see this. What do they see while it loads, when it fails, when it is empty, without a mouse?'],
  },
  docs: {
    model: 'fast',
    whenSmall: 'fast',
    effort: 'low',
    hints: ['This is a document. Is each command, name and path in it as the code has it?'],
  },
  other: { model: 'review', whenSmall: 'fast', effort: 'high', hints: [] },
}

export function kindOfFile(path: string): FileKind {
  if (isSecurityPath(path)) return 'security'
  return kinds.find(([pattern]) => pattern.test(path))?.[1] ?? 'other'
}

/** From the top; a migration's test is a test of data, and looked at as data. */
const kinds: readonly (readonly [RegExp, FileKind])[] = [
  [/(?:^|\/)(?:migrations?|migrate|schemas?|seeds?)\/|\.(?:sql|prisma|graphql|proto|avsc)$/i, 'data'],
  [/(?:^|\/)(?:models?|entities)\/[^/]+\.\w+$|(?:^|\/)schema\.\w+$/i, 'data'],
  [
    /(?:^|\/)(?:tests?|specs?|__tests__|__mocks__|e2e|cypress)\/|[._-](?:test|spec)s?\.\w+$|(?:^|\/)test_[^/]+\.py$/i,
    'tests',
  ],
  [/(?:^|\/)(?:docs?|documentation)\/|\.(?:md|mdx|rst|adoc|txt)$|(?:^|\/)(?:LICENSE|CHANGELOG|AUTHORS)$/i, 'docs'],
  [/\.(?:tsx|jsx|vue|svelte|astro|css|scss|sass|less|html?|hbs|ejs|svg)$/i, 'ui'],
  [
    /\.(?:json5?|jsonc|ya?ml|toml|ini|cfg|conf|properties|tf|lock|mod|gradle)$|(?:^|\/)(?:\.[^/]+rc|Makefile|[^/]+\.config\.\w+)$/i,
    'config',
  ],
]

/** Characters as well as lines: a line may be a whole minified program. */
const isSmall = (size: ChangeSize): boolean => linesOf(size) <= 10 && charsOf(size) <= 1000

const isLarge = (size: ChangeSize): boolean => linesOf(size) > 300 || charsOf(size) > 20_000

const linesOf = ({ linesBefore, linesAfter }: ChangeSize): number => Math.max(linesBefore, linesAfter)

const charsOf = ({ charsBefore, charsAfter }: ChangeSize): number => Math.max(charsBefore, charsAfter)

function hintsFor({ linesBefore, linesAfter }: ChangeSize): string[] {
  if (linesBefore >= 20 && linesAfter < linesBefore / 2)
    return [`${linesBefore} lines become ${linesAfter}. Is anything gone that is still called, tested or promised?`]
  if (linesBefore >= 5 && linesAfter >= 60 && linesAfter > linesBefore * 3)
    return [
      `${linesBefore} lines become ${linesAfter}. Is all of it asked for, and does any of it exist elsewhere already?`,
    ]
  return []
}
