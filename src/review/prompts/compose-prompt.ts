import { fence, fenceTag } from '../../safety/fence.ts'
import type { ReviewType } from '../../schemas/backend.ts'
import type { Finding } from '../../schemas/review-result.ts'
import { type PassKind, passInstructions } from './pass-instructions.ts'
import { roles } from './roles.ts'
import { accessRules, dataRules, rereviewRules, rules } from './rules.ts'

/** Everything that goes into one prompt; redacted and cut to its budget already. */
export type PromptParts = {
  readonly type: ReviewType
  readonly content: string
  readonly expertise: string | null
  readonly context: string | null
  readonly changes: string | null
  readonly earlier: readonly Finding[]
  /** What the pass before has handed on: notes for the second pass, findings for the third. */
  readonly handedOn: string | null
  readonly canRead: boolean
}

export type Prompt = { readonly system: string; readonly user: string }

const names: { readonly [type in ReviewType]: string } = {
  plan: 'the plan',
  code: 'the change',
  prd: 'the requirements',
  sdd: 'the design',
  sprint: 'the sprint plan',
}

/** The system text holds what we say; whatever anybody else wrote stands in the user text, between tagged lines. */
export function composePrompt(pass: PassKind, parts: PromptParts, random: () => string): Prompt {
  const material = materialOf(pass, parts)
  const tag = fenceTag(
    material.map(({ text }) => text),
    random,
  )
  const { who, ofTheRepository = [], questions } = roles[parts.type]
  const asked = [...(parts.canRead ? ofTheRepository : []), ...questions]
  const expertise = parts.expertise?.trim() ?? ''
  const system = [
    who,
    `## What you ask\n${asked.map((question) => `- ${question}`).join('\n')}`,
    ...(expertise === '' ? [] : [`## What you know about\n${expertise}`]),
    rules,
    ...(parts.earlier.length === 0 ? [] : [rereviewRules]),
    accessRules(parts.canRead),
    dataRules(tag),
    passInstructions[pass],
  ].join('\n\n')
  const user = [
    ...material.map(({ label, text }) => fence(text, label, tag)),
    `Review ${names[parts.type]} now, as you were told above. Answer with the one JSON object.`,
  ].join('\n\n')
  return { system, user }
}

type Material = { readonly label: string; readonly text: string }

function materialOf(pass: PassKind, parts: PromptParts): Material[] {
  const handedOn = pass === 'verify' ? 'findings to verify' : "the first reader's notes"
  const rows: readonly (readonly [string, string | null])[] = [
    ['what it belongs to', parts.context],
    [names[parts.type], parts.content],
    ['what changed since the review before', parts.changes],
    ['earlier findings', parts.earlier.length === 0 ? null : JSON.stringify(parts.earlier, null, 1)],
    [handedOn, parts.handedOn],
  ]
  return rows.flatMap(([label, text]) => (text === null || text.trim() === '' ? [] : [{ label, text }]))
}
