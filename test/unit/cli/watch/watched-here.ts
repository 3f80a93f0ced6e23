import type { WatchContext, Watched } from '../../../../src/cli/watch-feed.ts'
import type { Progress } from '../../../../src/schemas/records.ts'

export const root = '/work/shop-login'

/** A worktree whose first revision was found wanting, as it is looked at; `more` says what is otherwise. */
export const watchedHere = (
  more: Partial<WatchContext> = {},
  status: Partial<WatchContext['status']> = {},
): Watched & { here: WatchContext } => ({
  root,
  here: {
    progress: { kind: 'absent' },
    events: [],
    unreadable: null,
    denials: [],
    ...more,
    status: {
      root,
      installed: '0.1.0',
      plan: { kind: 'open', because: 'docs/plan.md is not approved yet' },
      approved_by: null,
      closed: [],
      revisions: 0,
      limit: 5,
      cycles: 0,
      verdicts: [],
      findings: [],
      review: null,
      unavailable: null,
      thread: null,
      commands: 'list',
      sessions: [],
      denials: 0,
      last_denial: null,
      deadline_seconds: 540,
      routes_hash: null,
      problems: [],
      ...status,
    },
  },
})

export const progress = (more: Partial<Progress> = {}): Progress => ({
  pass: 1,
  passes: 3,
  backend: 'codex',
  started_at: '2026-03-01T10:00:00.000Z',
  deadline_at: '2026-03-01T10:09:00.000Z',
  revision: 1,
  pid: 1,
  does: 'plan',
  pass_started_at: '2026-03-01T10:00:00.000Z',
  pass_deadline_at: '2026-03-01T10:05:00.000Z',
  ...more,
})

export const finding = (id: string, problem: string) => ({
  id,
  severity: 'major' as const,
  section: '## Approach',
  problem,
  evidence: '',
  fix: '',
})

export const event = (type: string, fields: object = {}, at = '2026-03-01T10:00:01.000Z') => ({
  seq: 1,
  at,
  type,
  prev: '0'.repeat(64),
  ...fields,
})
