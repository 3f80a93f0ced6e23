import type { Redirect } from 'unbash'
import { type Refusal, refuse } from './refusal.ts'
import type { Token } from './second-opinion.ts'

const allowed = ['>/dev/null', '1>/dev/null', '2>/dev/null', '2>&1']

/** Output may be thrown away or merged; it goes nowhere else, and nothing is read from a redirection. */
export function checkRedirection(redirect: Redirect, source: string): Refusal | undefined {
  const text = source.slice(redirect.pos, redirect.end)
  if (allowed.includes(text.replace(/^(\d?>)[ \t]+/, '$1'))) return undefined
  return refuse(
    'redirection',
    text,
    redirect.operator.startsWith('<') ? 'reads from a redirection' : 'sends output somewhere',
    redirect.operator.startsWith('<')
      ? 'Name the file as an argument.'
      : 'Leave it out: what the command prints is shown to you. Only 2>/dev/null, >/dev/null and 2>&1 are allowed.',
  )
}

export const redirectionTokens = (redirect: Redirect): Token[] => [
  ...(redirect.descriptor?.type === 'FileDescriptor' ? [{ text: String(redirect.descriptor.value) }] : []),
  redirect.operator,
  { text: redirect.target?.text ?? '' },
]
