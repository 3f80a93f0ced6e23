import { escapeUntrusted } from '../redact/untrusted-text.ts'
import { formatDollars, foundBy, otherReaders } from '../review/findings.ts'
import type { PassKind } from '../review/prompts.ts'
import type { ReviewEvent } from '../review/request.ts'
import type { ReviewResult } from '../schemas/review.ts'
import { formatForecast } from '../state/pass-times.ts'
import { isDebugging } from '../system/errors.ts'
import { clockTime, roughTime } from '../text/clean.ts'
import { clipToWidth } from '../text/width.ts'
import { oneLine, type Terminal } from './terminal.ts'

/** What `review` prints: its progress, and its result. */

const heartbeatMs = 15_000

/** On a terminal one line that is updated each second, elsewhere a line per pass and one every 15 s, for a log. */
export function reviewProgress({ paint }: Terminal): { onEvent: (event: ReviewEvent) => void; end: () => void } {
  const live = process.stderr.isTTY === true && process.env.TERM !== 'dumb'
  let pass: Pass | null = null
  let [sign, startedAt, printedAt] = ['', 0, 0]
  const print = (text: string, level: 'INFO' | 'WARN' = 'INFO'): void => {
    process.stderr.write(live ? `\r\u001b[K${text}\n` : `[plan-gate] ${level}: ${text.replace(/\s*\n\s*/g, ' ')}\n`)
  }
  const tick = (): void => {
    if (pass === null) return
    const line = describeProgress(pass, performance.now() - startedAt, sign)
    if (live) process.stderr.write(`\r\u001b[K${paint('dim', clipToWidth(line, (process.stderr.columns || 80) - 1))}`)
    else if (performance.now() - printedAt > heartbeatMs) {
      printedAt = performance.now()
      print(line)
    }
  }
  const clock = setInterval(tick, live ? 1_000 : heartbeatMs).unref()
  return {
    onEvent: (event) => {
      switch (event.kind) {
        case 'pass':
          pass = event
          ;[sign, startedAt, printedAt] = ['', performance.now(), performance.now()]
          return live ? tick() : print(`${describePassOf(event)}${limits(event, startedAt)}`)
        case 'sign':
          sign = oneLine(event.text)
          return tick()
        case 'trace':
          return isDebugging() ? print(paint('dim', escapeUntrusted(event.line))) : undefined
        case 'notice':
          return print(`${live ? `${paint('yellow', 'note:')} ` : ''}${escapeUntrusted(event.text)}`, 'WARN')
      }
    },
    end: () => {
      clearInterval(clock)
      if (live && pass !== null) process.stderr.write('\r\u001b[K')
      pass = null
    },
  }
}

type Pass = Extract<ReviewEvent, { kind: 'pass' }>

const describePassOf = ({ pass, passes, does, backend }: Pass): string =>
  `pass ${pass} of ${passes}: ${passLabels[does]} (${oneLine(backend)})`

function describeProgress(pass: Pass, elapsedMs: number, sign: string): string {
  const usual = pass.expectedMs ? ` of ${roughTime(pass.expectedMs)}` : ''
  return `${describePassOf(pass)}  ${clockTime(elapsedMs)}${usual}${sign === '' ? '' : `  ${sign}`}`
}

const limits = ({ deadlineAt, forecast }: Pass, startedAt: number): string =>
  `, up to ${Math.max(0, Math.round((deadlineAt - startedAt) / 1000))} s${forecast ? `, ${formatForecast(forecast)} to the end` : ''}`

/** What a pass does. */
export const passLabels = {
  plan: 'understand',
  review: 'find',
  verify: 'verify',
  combined: 'the only pass',
  settle: 'one more question',
  arbitrate: 'decide what is contested',
} as const satisfies { readonly [pass in PassKind]: string }

const colours = { APPROVED: 'green', CHANGES_REQUIRED: 'red', DECISION_NEEDED: 'yellow', SKIPPED: 'dim' } as const

/** For people: the verdict, the open findings, and the status of earlier ones. */
export function describeResult(result: ReviewResult, { paintOut }: Terminal): string {
  const { verdict, summary, question, findings, previous_findings: previous = [], pass_metadata: meta } = result
  return [
    paintOut(colours[verdict], verdict),
    clean(summary),
    ...(question === null || question === undefined ? [] : ['', clean(question)]),
    ...findings.flatMap(({ id, severity, section, problem, evidence, fix, sources = [] }) => [
      '',
      `${paintOut('bold', `${id} ${severity}`)}  ${clean(section)}${foundBy({ sources })}`,
      `  ${clean(problem)}`,
      ...(evidence === '' ? [] : [`  ${paintOut('dim', clean(evidence))}`]),
      ...(fix === '' ? [] : [`  → ${clean(fix)}`]),
    ]),
    ...(previous.length === 0 ? [] : ['', 'Earlier findings:']),
    ...previous.map(({ id, status, reason }) => `  ${id} ${status}  ${paintOut('dim', clean(reason))}`),
    ...(meta === undefined ? [] : ['', paintOut('dim', describeMeta(result, meta))]),
  ].join('\n')
}

const describeMeta = ({ verification }: ReviewResult, meta: NonNullable<ReviewResult['pass_metadata']>): string =>
  [
    [meta.route, ...otherReaders(meta)].join(' and '),
    meta.repository === true ? 'with the repository' : 'without the repository',
    `${meta.passes_completed} ${meta.passes_completed === 1 ? 'pass' : 'passes'}`,
    `${(meta.total_duration_ms / 1000).toFixed(1)} s`,
    ...(meta.complexity === null ? [] : [`complexity ${meta.complexity}`]),
    ...(verification === 'skipped' ? ['findings not verified'] : []),
    ...(typeof meta.cost_usd === 'number' ? [formatDollars(meta.cost_usd)] : []),
  ].join(' · ')

const clean = (text: string): string => escapeUntrusted(text).replaceAll('\n', '\n  ')
