/** What of a tool event is reviewed, and how hard. */
import { basename, dirname, resolve } from 'node:path'
import type { CompiledConfig } from '../config/schema.ts'
import { classifyPath, type ProtectedPaths } from '../gate/protected-paths.ts'
import { isSecurityPath } from '../review/complexity.ts'
import type { PostToolUse, PostToolUseFailure } from '../schemas/hook-events.ts'
import type { Effort } from '../schemas/review.ts'
import { readRegular } from '../state/files.ts'
import { planPath } from '../state/own-paths.ts'
import { loadBundle } from '../system/load-bundle.ts'
import { resolvePath } from '../system/paths.ts'
import { sha256 } from '../system/sha256.ts'
import { clipEnd, dedupText } from '../text/clean.ts'
import { type Change, type ChangeSize, type ClassifiedEvent, classifyEvent, type ToolEvent } from './classify.ts'
import type { ReflectionKind, ReflectionMaterial } from './prompts.ts'
import { findingKey, type Subject } from './session-state.ts'

/** `material` is as it came: nothing of it is redacted yet. */
export type ReflectionSubject = Subject & {
  readonly kind: ReflectionKind
  readonly material: Omit<ReflectionMaterial, 'hints' | 'canRead'>
  /** A function, because its many patterns cost milliseconds to compile. */
  readonly weigh: () => Weight
}

type Selection =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'subject'; readonly subject: ReflectionSubject }
  /** A command that may have failed before. */
  | { readonly kind: 'succeeded'; readonly key: string }

export async function selectSubject(
  root: string,
  event: PostToolUse | PostToolUseFailure,
  compiled: CompiledConfig,
): Promise<Selection> {
  const command = event.tool_input.command
  const isShell = event.tool_name === 'Bash' || event.tool_name === 'PowerShell'
  if (event.hook_event_name === 'PostToolUse' && isShell && typeof command === 'string')
    return { kind: 'succeeded', key: commandKey(command) }
  const plan = readRegular(root, planPath)
  if (plan.kind !== 'read') return { kind: 'nothing' }
  const pathInWork = workPaths(root, event.cwd ?? root)
  const classified = classifyEvent(asToolEvent(event), {
    isThePlan: (path) => pathInWork(path) === planPath,
    isPlanFile: (path) => isPlanFile(resolve(event.cwd ?? root, path), compiled),
    pathInWork,
    sensitiveFiles: compiled.config.review.sensitive_files,
  })
  const subject = await subjectOf(classified, plan.bytes.toString('utf8'), pathInWork, compiled)
  return subject === null ? { kind: 'nothing' } : { kind: 'subject', subject }
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
  pathInWork: WorkPaths,
  compiled: CompiledConfig,
): Promise<ReflectionSubject | null> {
  switch (classified.kind) {
    case 'skip':
      return null
    case 'code-change':
      return changeSubject(classified.change, plan, pathInWork(classified.change.path) ?? classified.change.path)
    case 'plan-review':
      return planSubject(classified, plan)
    case 'thinking':
      return {
        kind: 'thinking',
        ...{ hash: null, key: null, about: clipEnd(classified.tool, 200) },
        material: { content: classified.thought, about: classified.tool, plan, result: null, changes: null },
        weigh: () => ({ model: 'fast', effort: 'high', hints: [] }),
      }
    case 'subagent':
      return {
        kind: 'subagent',
        ...{ hash: null, key: null, about: clipEnd(classified.agent, 200) },
        material: { content: classified.answer, about: classified.task, plan, result: null, changes: null },
        weigh: highEffort,
      }
    case 'bash-failure': {
      const { command, error } = classified
      return {
        kind: 'failure',
        ...{ hash: null, key: commandKey(command), about: await redactedCommand(command, compiled) },
        material: { content: error, about: command, plan, result: null, changes: null },
        weigh: highEffort,
      }
    }
  }
}

const highEffort = (): Weight => ({ model: 'review', effort: 'high', hints: [] })

/** The same change is reviewed again under another plan. */
function changeSubject(change: Change, plan: string, path: string): ReflectionSubject {
  const { tool, content, oldString, newString, shown, size } = change
  return {
    kind: 'change',
    hash: sha256(`${sha256(plan)} ${dedupText(tool, path, content, oldString, newString)}`),
    key: findingKey({ kind: 'file', path }),
    about: path,
    material: { content: shown, about: path, plan, result: null, changes: null },
    weigh: () => weighChange(path, size),
  }
}

/** A plan file of plan mode. What of it has become docs/plan.md was reviewed as that. */
function planSubject(
  { path, text }: Extract<ClassifiedEvent, { kind: 'plan-review' }>,
  plan: string,
): ReflectionSubject | null {
  const content = text ?? readTextFile(path)
  if (content === null || content.trim() === '' || content.trim() === plan.trim()) return null
  return {
    kind: 'plan',
    hash: null,
    key: findingKey({ kind: 'file', path }),
    about: path,
    material: { content, about: path, plan, result: null, changes: null },
    weigh: highEffort,
  }
}

function readTextFile(path: string): string | null {
  const read = readRegular(dirname(path), basename(path))
  return read.kind === 'read' ? read.bytes.toString('utf8') : null
}

/** A path as seen from the worktree, with links followed; null outside of it and in what is not part of the work. */
type WorkPaths = (path: string) => string | null

const workPaths = (root: string, cwd: string): WorkPaths => {
  const base = resolvePath(root)
  return (path) => {
    const target = resolvePath(resolve(cwd, path))
    if (target.kind !== 'resolved' || base.kind !== 'resolved') return null
    const inside = target.real.startsWith(`${base.real}/`) ? target.real.slice(base.real.length + 1) : null
    return inside === null || /^\.(?:git|claude\/(?:review|hooks))(?:\/|$)/.test(inside) ? null : inside
  }
}

function isPlanFile(path: string, { protected_paths: paths }: CompiledConfig): boolean {
  const isPlan = classifyPath(resolvePath(path), paths as ProtectedPaths).kind === 'plan-mode-plan'
  return isPlan && readRegular(dirname(path), basename(path)).kind === 'read'
}

const commandKey = (command: string): string => findingKey({ kind: 'command', hash: sha256(command) })

/** Redacted first and truncated afterwards: half a secret would not be recognised. */
async function redactedCommand(command: string, { config }: CompiledConfig): Promise<string> {
  const { reviews } = await loadBundle<{ reviews: typeof import('../redact/redact.ts') }>('reviews')
  const clean = reviews.makeRedactor(config.review.redaction.patterns).text(command)
  return clean.kind === 'redacted' ? clipEnd(clean.text, 200) : 'a command that cannot be shown'
}

export type FileKind = 'security' | 'data' | 'tests' | 'config' | 'ui' | 'docs' | 'other'

export type Weight = {
  readonly model: 'review' | 'fast'
  readonly effort: Effort
  /** plan-gate's own questions for the reviewer. */
  readonly hints: readonly string[]
}

/** Which model reviews a change, and with what effort. `path` is relative to the worktree. */
export function weighChange(path: string, size: ChangeSize): Weight {
  const row = weights[kindOfFile(path)]
  const hints = [...row.hints, ...hintsFor(size)]
  if (isLarge(size)) return { model: 'review', effort: higher[row.effort], hints }
  return { model: isSmall(size) ? row.whenSmall : row.model, effort: row.effort, hints }
}

type Models = {
  /** Set by the user for every call; wins over the weight. */
  readonly override: string | null
  readonly review: string | null
  readonly fast: string | null
}

/** A fast model is asked with high effort: it is cheap, and shallow without. */
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

type FileWeight = Weight & { readonly whenSmall: Weight['model'] }

const weights: { readonly [kind in FileKind]: FileWeight } = {
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
  return fileKinds.find(([pattern]) => pattern.test(path))?.[1] ?? 'other'
}

/** The first match counts; a migration's test is reviewed as data. */
const fileKinds: readonly (readonly [RegExp, FileKind])[] = [
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
