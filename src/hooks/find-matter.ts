import { lstatSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type ProtectedPaths, planPath } from '../gate/place-of.ts'
import { type Classified, classifyEvent, type ToolEvent } from '../reflect/classify-event.ts'
import type { ReflectionMaterial } from '../reflect/compose-reflection.ts'
import { dedupText } from '../reflect/dedup-text.ts'
import { failKey } from '../reflect/fail-state.ts'
import type { Subject } from '../reflect/follow-session.ts'
import { judgePlanPath } from '../reflect/plan-paths.ts'
import type { Change } from '../reflect/read-change.ts'
import type { ReflectionKind } from '../reflect/reflection-kinds.ts'
import { type Weight, weighChange } from '../reflect/weigh-change.ts'
import { clipEnd } from '../review/clip-text.ts'
import type { CompiledConfig } from '../schemas/compiled-config.ts'
import type { EffectiveConfig } from '../schemas/config.ts'
import type { PostToolUse, PostToolUseFailure } from '../schemas/hook-events.ts'
import { readRegular } from '../store/read-regular.ts'
import { sha256 } from '../store/sha256.ts'
import { resolvePath } from '../system/resolve-path.ts'
import { loadReviews } from './load-reviews.ts'

/** What there is to look at. `material` is as it came: nothing of it is redacted yet. */
export type ReflectionSubject = {
  readonly kind: ReflectionKind
  readonly subject: Subject
  readonly material: Omit<ReflectionMaterial, 'hints' | 'canRead'>
  /** Only asked for when somebody is to look: its many patterns cost milliseconds to compile. */
  readonly weigh: () => Weight
}

export type Found =
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
  const matter = await matterOf(classified, planText, place, compiled)
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

async function matterOf(
  classified: Classified,
  plan: string,
  place: Place,
  compiled: CompiledConfig,
): Promise<ReflectionSubject | null> {
  switch (classified.kind) {
    case 'skip':
      return null
    case 'code-change':
      return matterOfChange(classified.change, plan, place(classified.change.path) ?? classified.change.path)
    case 'plan-review':
      return matterOfPlan(classified, plan)
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
function matterOfChange(change: Change, plan: string, path: string): ReflectionSubject {
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
function matterOfPlan(
  { path, text }: Extract<Classified, { kind: 'plan-review' }>,
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

function isPlanFile(path: string, { house }: CompiledConfig): boolean {
  const target = resolvePath(path)
  return (house as ProtectedPaths).planModeDirs.some(({ named, real }) => {
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
  const { makeRedactor } = await loadReviews()
  const clean = makeRedactor((config as EffectiveConfig).review.redaction.patterns).text(command)
  return clean.kind === 'redacted' ? clipEnd(clean.text, 200) : 'a command that cannot be shown'
}
