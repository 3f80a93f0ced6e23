import { type Answer, failClosed } from '../protocol/answers.ts'
import { endProcess, killOwnProcess } from '../system/end-process.ts'
import { readStdin } from '../system/read-stdin.ts'

export type Hook = {
  /** Well below the time-out of the hook's entry: on versions before 2.1.295 a hook that times out lets the call through. */
  deadlineMs: number
  /** What a failure of the hook itself comes to. */
  onFailure: (message: string) => Answer
  /** `extend`: from now on it may take that long; a review that is worth its minutes asks for them. */
  work: (input: string, extend: (ms: number) => void) => Answer | Promise<Answer>
}

/** The life of a hook process: read, answer, end. Whatever goes wrong ends in the hook's own `onFailure`. */
export async function runHook({ deadlineMs, onFailure, work }: Hook): Promise<never> {
  const fail = (why: string): Answer => onFailure(`plan-gate: the hook could not do its work: ${why}`)
  process.on('uncaughtException', (error) => endProcess(fail(error.message)))
  const endAfter = (ms: number): NodeJS.Timeout =>
    setTimeout(() => {
      const answer = fail(`it took longer than ${ms / 1000} s`)
      if (onFailure === failClosed) killOwnProcess(answer.stderr ?? '')
      endProcess(answer)
    }, ms).unref()
  let late = endAfter(deadlineMs)
  const extend = (ms: number): void => {
    clearTimeout(late)
    late = endAfter(ms)
  }
  try {
    const input = await readStdin()
    switch (input.kind) {
      case 'too-large':
        return endProcess(fail('its input is larger than 64 MB'))
      case 'failed':
        return endProcess(fail(`its input could not be read (${input.why})`))
      case 'read':
        return endProcess(await work(input.text, extend))
    }
  } catch (error) {
    return endProcess(fail(error instanceof Error ? error.message : String(error)))
  }
}
