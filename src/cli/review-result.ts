import { escapeUntrusted } from '../redact/untrusted-text.ts'
import { formatDollars, foundBy, otherReaders } from '../review/describe.ts'
import type { ReviewResult } from '../schemas/review.ts'
import type { Terminal } from './terminal.ts'

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
