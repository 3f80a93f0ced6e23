import { escapeUntrusted } from '../redact/untrusted-text.ts'
import type { PassKind } from '../review/prompts.ts'
import type { ReviewEvent } from '../review/request.ts'
import { type Expected, formatForecast } from '../state/pass-times.ts'
import type { Terminal } from './terminal.ts'

const heartbeatMs = 15_000

/** On a terminal a status line that is updated each second, elsewhere a line every 15 s. */
export function reviewProgress({ paint }: Terminal): { onEvent: (event: ReviewEvent) => void; end: () => void } {
  const live = process.stderr.isTTY === true && process.env.TERM !== 'dumb'
  let [doing, sign, startedAt, deadlineAt, printedAt] = ['', '', 0, 0, 0]
  const print = (text: string): void => {
    process.stderr.write(`${live ? '\r\u001b[K' : ''}${text}\n`)
  }
  const status = (): string => {
    const now = performance.now()
    return `${doing}  ${seconds(now - startedAt)} of ${seconds(deadlineAt - startedAt)}${sign === '' ? '' : `  ${sign}`}`
  }
  const tick = (): void => {
    if (doing === '') return
    if (live) process.stderr.write(`\r\u001b[K${paint('dim', status().slice(0, (process.stderr.columns ?? 80) - 1))}`)
    else if (performance.now() - printedAt > heartbeatMs) {
      printedAt = performance.now()
      print(status())
    }
  }
  const clock = setInterval(tick, live ? 1_000 : heartbeatMs).unref()
  return {
    onEvent: (event) => {
      switch (event.kind) {
        case 'pass':
          doing = `pass ${event.pass} of ${event.passes}: ${passLabels[event.does]} (${event.backend})`
          ;[sign, startedAt, deadlineAt, printedAt] = ['', performance.now(), event.deadlineAt, performance.now()]
          return print(
            `${paint('cyan', doing)}  ${paint('dim', `up to ${seconds(deadlineAt - startedAt)}${expected(event.forecast)}`)}`,
          )
        case 'sign':
          sign = escapeUntrusted(event.text)
          return tick()
        case 'trace':
          return print(paint('dim', escapeUntrusted(event.line)))
        case 'notice':
          return print(`${paint('yellow', 'note:')} ${escapeUntrusted(event.text)}`)
      }
    },
    end: () => {
      clearInterval(clock)
      if (live && doing !== '') process.stderr.write('\r\u001b[K')
      doing = ''
    },
  }
}

const expected = (forecast: Expected | null | undefined): string =>
  forecast ? `, ${formatForecast(forecast)} to the end` : ''

const seconds = (ms: number): string => `${Math.max(0, Math.round(ms / 1000))} s`

/** What a pass does. */
export const passLabels = {
  plan: 'understand',
  review: 'find',
  verify: 'verify',
  combined: 'the only pass',
  settle: 'one more question',
  arbitrate: 'decide what is contested',
} as const satisfies { readonly [pass in PassKind]: string }
