import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { codexHome, readUserConfig } from './read-surroundings.ts'

/** All of the user's environment, since a provider of their own may need any of it, but for what is about others. */
export function codexEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.fromEntries(Object.entries(env).filter(([name]) => !foreign.test(name)))
  const key = env.OPENAI_API_KEY ?? ''
  return key === '' || isLoggedIn(env) ? kept : { ...kept, CODEX_API_KEY: key }
}

/** Of Claude Code, which has started us; of a Codex that we may run in; what would run in or slow down every program. */
const foreign = /^(CLAUDE.*|AI_AGENT|NODE_OPTIONS|RUST_LOG|CODEX_(THREAD_ID|SESSION_ID|TOOL_CALL_ID|CI|SANDBOX.*))$/

/** A key would win over a login, and be billed for what a subscription covers. */
const isLoggedIn = (env: NodeJS.ProcessEnv): boolean =>
  ['CODEX_API_KEY', 'CODEX_ACCESS_TOKEN'].some((name) => (env[name] ?? '') !== '') ||
  existsSync(join(codexHome(env), 'auth.json')) ||
  keepsLoginElsewhere(readUserConfig(env))

const keepsLoginElsewhere = (config: string): boolean =>
  /^\s*cli_auth_credentials_store\s*=\s*["'](keyring|auto)["']/m.test(config)

/** What must not be repeated in a message. */
export const secretsIn = (env: NodeJS.ProcessEnv): string[] =>
  Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && /(KEY|TOKEN|SECRET|PASSWORD)(_?\d+)?$/i.test(name) ? [value] : [],
  )
