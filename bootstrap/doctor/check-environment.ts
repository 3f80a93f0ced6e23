import { relativeEntries } from '../../src/system/search-path.ts'
import { type CheckResult, failed, warning } from '../prerequisites/row.ts'

/** Variables of the shell that the person stands in; a session started from it would inherit them. */
export function checkEnvironment(env: NodeJS.ProcessEnv): CheckResult[] {
  const off = ['CLAUDE_CODE_SIMPLE', 'CLAUDE_CODE_SAFE_MODE'].filter(
    (name) => (env[name] ?? '') !== '' && env[name] !== '0',
  )
  const [relative] = relativeEntries(env.PATH)
  return [
    ...(relative === undefined
      ? []
      : [
          failed(
            'environment',
            `PATH has an entry that is not absolute, ${JSON.stringify(relative)}: a command may then be a program of the repository, so the gate refuses all`,
            'Take it out of PATH.',
          ),
        ]),
    ...off.map((name) =>
      failed('environment', `${name} is set: Claude Code then runs no hooks at all`, `unset ${name}`),
    ),
    ...(env.BASH_ENV
      ? [
          warning(
            'environment',
            'BASH_ENV is set: each command of Claude’s runs that file first',
            'unset BASH_ENV before you start Claude Code.',
          ),
        ]
      : []),
  ]
}
