import { escapeUntrusted } from '../redact/untrusted-text.ts'
import type { PassKind } from '../review/prompts.ts'
import type { ReviewEvent } from '../review/request.ts'
import type { Terminal } from './terminal.ts'

const heartbeatMs = 15_000

/** Who waits sees at any moment what is going on: a line that counts on a terminal, a line now and then elsewhere. */
export function reviewProgress({ paint }: Terminal): { tell: (event: ReviewEvent) => void; end: () => void } {
  const live = process.stderr.isTTY === true && process.env.TERM !== 'dumb'
  let [doing, sign, startedAt, deadlineAt, saidAt] = ['', '', 0, 0, 0]
  const say = (text: string): void => {
    process.stderr.write(`${live ? '\r\u001b[K' : ''}${text}\n`)
  }
  const status = (): string => {
    const now = performance.now()
    return `${doing}  ${seconds(now - startedAt)} of ${seconds(deadlineAt - startedAt)}${sign === '' ? '' : `  ${sign}`}`
  }
  const tick = (): void => {
    if (doing === '') return
    if (live) process.stderr.write(`\r\u001b[K${paint('dim', status().slice(0, (process.stderr.columns ?? 80) - 1))}`)
    else if (performance.now() - saidAt > heartbeatMs) {
      saidAt = performance.now()
      say(status())
    }
  }
  const clock = setInterval(tick, live ? 1_000 : heartbeatMs).unref()
  return {
    tell: (event) => {
      switch (event.kind) {
        case 'pass':
          doing = `pass ${event.pass} of ${event.passes}: ${formatPass[event.does]} (${event.backend})`
          ;[sign, startedAt, deadlineAt, saidAt] = ['', performance.now(), event.deadlineAt, performance.now()]
          return say(`${paint('cyan', doing)}  ${paint('dim', `up to ${seconds(deadlineAt - startedAt)}`)}`)
        case 'sign':
          sign = escapeUntrusted(event.text)
          return tick()
        case 'trace':
          return say(paint('dim', escapeUntrusted(event.line)))
        case 'notice':
          return say(`${paint('yellow', 'note:')} ${escapeUntrusted(event.text)}`)
      }
    },
    end: () => {
      clearInterval(clock)
      if (live && doing !== '') process.stderr.write('\r\u001b[K')
      doing = ''
    },
  }
}

const seconds = (ms: number): string => `${Math.max(0, Math.round(ms / 1000))} s`

/** What a pass is for, in a word. */
export const formatPass = {
  plan: 'understand',
  review: 'find',
  verify: 'verify',
  combined: 'the only pass',
} as const satisfies { readonly [pass in PassKind]: string }
