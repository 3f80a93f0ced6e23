import { escapeUntrusted } from '../redact/untrusted-text.ts'
import type { PassKind } from '../review/prompts.ts'
import type { ReviewEvent } from '../review/request.ts'
import { type Expected, formatForecast } from '../state/pass-times.ts'
import { findProgram } from '../system/find-program.ts'
import type { Terminal } from './terminal.ts'

const heartbeatMs = 15_000

/**
 * On a terminal a status line that is updated each second, elsewhere a line every 15 s, and each line with its level for
 * the log that it goes to. `codexRows`: the rows of which the version is said when the first of them is asked.
 */
export function reviewProgress(
  { paint }: Terminal,
  codexRows: readonly string[],
  codexEnv: NodeJS.ProcessEnv,
): { onEvent: (event: ReviewEvent) => void; fail: (why: string) => void; end: () => void } {
  const live = process.stderr.isTTY === true && process.env.TERM !== 'dumb'
  let [doing, sign, startedAt, deadlineAt, printedAt] = ['', '', 0, 0, 0]
  let isVersionKnown = false
  const print = (text: string, level: 'INFO' | 'WARN' | 'ERROR' = 'INFO'): void => {
    process.stderr.write(live ? `\r\u001b[K${text}\n` : `[plan-gate] ${level}: ${text.replace(/\s*\n\s*/g, ' ')}\n`)
  }
  const trace = (line: string): void => print(paint('dim', escapeUntrusted(line)))
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
          if (codexRows.includes(event.backend) && !isVersionKnown) {
            isVersionKnown = true
            void codexVersion(codexEnv).then(
              (version) => doing !== '' && version !== null && trace(`[codex] version ${version}`),
            )
          }
          ;[sign, startedAt, deadlineAt, printedAt] = ['', performance.now(), event.deadlineAt, performance.now()]
          return print(
            `${paint('cyan', doing)}  ${paint('dim', `up to ${seconds(deadlineAt - startedAt)}${expected(event.forecast)}`)}`,
          )
        case 'sign':
          sign = escapeUntrusted(event.text)
          return tick()
        case 'trace':
          return trace(event.line)
        case 'notice':
          return print(`${live ? `${paint('yellow', 'note:')} ` : ''}${escapeUntrusted(event.text)}`, 'WARN')
      }
    },
    // On a terminal the error that the command ends with is enough.
    fail: (why) => {
      if (!live) print(escapeUntrusted(why), 'ERROR')
    },
    end: () => {
      clearInterval(clock)
      if (live && doing !== '') process.stderr.write('\r\u001b[K')
      doing = ''
    },
  }
}

async function codexVersion(env: NodeJS.ProcessEnv): Promise<string | null> {
  const program = findProgram('codex', env)
  if (program === null) return null
  // Not among what a review starts with.
  const { runCommand } = await import('../system/run-command.ts')
  const outcome = await runCommand(program, ['--version'], { env, timeoutMs: 5_000 })
  return outcome.kind === 'ended' && outcome.exitCode === 0
    ? (/\d+\.\d+\.\d+[\w.-]{0,40}/.exec(outcome.stdout)?.[0] ?? null)
    : null
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
