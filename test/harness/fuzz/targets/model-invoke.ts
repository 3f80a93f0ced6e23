import { isUnknownModel, readExit } from '../../../../src/reviewers/hounfour.ts'
import { demand, type Target } from '../target.ts'

/** What `model-invoke` writes to stderr when it fails. */
export const modelInvoke: Target = {
  name: 'model-invoke',
  seeds: [
    '{"error": true, "code": "RATE_LIMITED", "message": "slow down", "retry_after": 2}',
    'INFO starting\n{"code":"INVALID_CONFIG","message":"No API key"}\n',
    '{"code":"INVALID_INPUT","message":"Unknown alias: x"}',
    'Traceback (most recent call last):\n  File "x"\nValueError: y',
    '',
    '{}',
    '{"error":"text"}',
    '{"code":"__proto__","message":"x"}',
    '{"code":"constructor"}',
  ],
  pieces: [
    '{',
    '}',
    '\n',
    '"code":',
    '"error":',
    '"message":',
    'TIMEOUT',
    'API_ERROR',
    'toString',
    'unknown model',
    'api key',
    '"retry_after":-1',
    '"retry_after":1e400',
  ],
  open: () => ({ look }),
}

function look(stderr: string): string {
  const exit = { exitCode: stderr.length % 15, stderr, secrets: ['a-secret-that-is-known'] }
  const { failure, why, nextStep, retryAfterMs } = readExit(exit)
  demand(typeof failure === 'string' && typeof nextStep === 'string', 'a failure of no class')
  demand(why.length < 800 && !/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/.test(why), 'a failure that is not to be read')
  demand(
    retryAfterMs === null || (retryAfterMs >= 0 && Number.isFinite(retryAfterMs)),
    'it is asked to wait for less than nothing',
  )
  return `${failure} ${isUnknownModel(exit)} ${retryAfterMs === null}`
}
