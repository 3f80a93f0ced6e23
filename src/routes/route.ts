import type { BackendName } from '../schemas/backend.ts'

export const failModes = ['fallthrough', 'hard_fail'] as const
export type FailMode = (typeof failModes)[number]

/** A row of the route table: who reviews, under which conditions, and what becomes of the review when that fails. */
export type Route = {
  readonly backend: BackendName
  /** Names of conditions that must all hold. */
  readonly when: readonly string[]
  readonly capabilities: readonly string[]
  readonly failMode: FailMode
  /** For one pass; null: what holds for every row. */
  readonly timeoutMs: number | null
  readonly retries: number
}

export type RouteTable = {
  readonly origin: 'default' | 'config'
  readonly routes: readonly Route[]
  /** What people should know about the table: what of it was ignored or replaced, and why. */
  readonly notices: readonly string[]
}

/** What a row that says nothing about it may be used for. */
export const usualCapabilities: { readonly [name in BackendName]: readonly string[] } = {
  hounfour: ['agent_binding', 'metering', 'trust_scopes'],
  codex: ['sandbox', 'ephemeral', 'multi_pass', 'tool_access'],
  curl: ['basic'],
  checklist: ['basic'],
}

const row = (backend: BackendName, when: readonly string[], failMode: FailMode, retries = 0): Route => ({
  backend,
  when,
  capabilities: usualCapabilities[backend],
  failMode,
  timeoutMs: null,
  retries,
})

export const defaultRoutes: readonly Route[] = [
  row('hounfour', ['flatline_routing_enabled', 'model_invoke_available'], 'fallthrough'),
  row('codex', ['codex_available'], 'fallthrough'),
  row('curl', ['always'], 'hard_fail', 3),
]
