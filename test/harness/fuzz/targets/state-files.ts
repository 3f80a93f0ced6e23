import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { readCompiledConfig } from '../../../../src/config/compiled-config.ts'
import { planState } from '../../../../src/gate/plan-state.ts'
import { findDrift } from '../../../../src/gate/working-tree.ts'
import { findAnswer } from '../../../../src/plan/next-step.ts'
import { readHandled } from '../../../../src/plan/plan-change.ts'
import { decideStop } from '../../../../src/reflect/messages.ts'
import {
  beforeAsking,
  openFindings,
  parseSessionState,
  readSessionState,
} from '../../../../src/reflect/session-state.ts'
import { readApproval } from '../../../../src/state/approval.ts'
import { readEvents, verifyLedger } from '../../../../src/state/ledger.ts'
import {
  readInstallRecord,
  readRepositoryBaseline,
  readSettingsBaseline,
  readTreeBaseline,
} from '../../../../src/state/records.ts'
import { readCounter, readProgress, readThread, readThreadUse } from '../../../../src/state/revisions.ts'
import { listSessions, readDenials } from '../../../../src/state/sessions.ts'
import { demand, same, type Target } from '../target.ts'

const review = '.claude/review'
const hash = createHash('sha256').update('# Plan\n').digest('hex')
const id = '01a1eef0-7c9a-72a1-96c8-89a053e3c795'
const pieces = [
  ...[
    'is_optimal',
    'plan_hash',
    'again',
    'kind',
    'text',
    'user',
    'pid',
    'pass',
    'passes',
    'revision',
    'thread',
    'used',
    'head',
  ],
  ...[
    'true',
    'false',
    'null',
    '1',
    '0',
    '-1',
    '1.5',
    '999999',
    '1e5',
    hash,
    hash.toUpperCase(),
    id,
    id.toUpperCase(),
    '\n',
    ' ',
  ],
  ...[
    '{',
    '}',
    '[',
    ']',
    '"',
    ':',
    ',',
    '\\u0000',
    '\ufeff',
    '__proto__',
    'entries',
    'fails',
    'paths',
    'seq',
    'prev',
    'at',
    'type',
  ],
]

type Row = {
  readonly name: string
  readonly path: string
  readonly seeds: readonly (string | object)[]
  /** What came of the file that holds this text. */
  readonly read: (root: string, text: string) => string
}

/** Files that plan-gate wrote once; anybody may have written them since, or a disk may have lost a part. */
const rows: readonly Row[] = [
  {
    name: 'approval',
    path: `${review}/approval.json`,
    seeds: [
      { is_optimal: true, plan_hash: hash },
      {
        is_optimal: true,
        plan_hash: hash,
        review_version: 2,
        approved_at: 'now',
        codex_thread_id: id,
        verification: null,
        route: 'codex',
        reason: null,
      },
      { is_optimal: false, plan_hash: hash },
      { is_optimal: 'true', plan_hash: 'a'.repeat(64) },
      `\ufeff{"is_optimal":true,"plan_hash":"${hash}"}`,
      `{"is_optimal":false,"is_optimal":true,"plan_hash":"${hash}"}`,
    ],
    read: (root, text) => {
      const read = readApproval(root)
      const recorded = { isRecorded: true, seen: null }
      const state = planState({ kind: 'read', hash: () => hash }, read, () => recorded)
      if (state.kind === 'approved') demand(saysApproved(text), 'the gate opens for what is no approval')
      return `${read.kind} ${state.kind}`
    },
  },
  {
    name: 'handled',
    path: `${review}/handled.json`,
    seeds: [
      { plan_hash: hash, again: false, kind: 'block', text: 'findings', user: null },
      { plan_hash: hash, again: true, kind: 'silence', text: '', user: 'x' },
    ],
    read: (root) => {
      const handled = readHandled(root)
      if (handled !== null) demand(['silence', 'context', 'block'].includes(handled.kind), 'it is said in no known way')
      return `${handled?.kind} ${findAnswer({ planHash: hash, approvedHash: null, last: () => handled, counter: () => readCounter(root).value, wrotePlan: true }).kind}`
    },
  },
  {
    name: 'progress',
    path: `${review}/progress.json`,
    seeds: [{ pass: 1, passes: 3, backend: 'codex', started_at: 'a', deadline_at: 'b', revision: 1, pid: 1 }],
    read: (root) => readProgress(root).kind,
  },
  {
    name: 'version-counter',
    path: `${review}/version_counter`,
    seeds: ['0\n', '5\n', '12', '', '-1\n', '1e3\n', '0x10\n', '999999\n', '1000000\n', ' 3\n', '3\r\n', '\u0663\n'],
    read: (root, text) => {
      const { value, why } = readCounter(root)
      demand(Number.isSafeInteger(value) && value >= 0, 'the count is none')
      demand((why === null) === /^\d{1,6}\n?$/.test(text), 'it is read otherwise than it is written')
      return `${why?.slice(0, 40) ?? 'read'} ${String(value).length}`
    },
  },
  {
    name: 'codex-thread',
    path: `${review}/codex_thread_id`,
    seeds: [`${id}\n`, id.toUpperCase(), ` ${id} `, `${id}0`, 'last', '--all', '', `${id}\n${id}\n`],
    read: (root) => {
      const read = readThread(root)
      if (read.kind === 'known') demand(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(read.id), 'it is no UUID')
      return read.kind
    },
  },
  {
    name: 'reflect',
    path: `${review}/sessions/s/reflect.json`,
    seeds: [
      {
        memory: { entries: [{ hash: 'h', verdict: 'PASS', at: 1_000, path: 'a', summary: 's' }] },
        fails: { fails: [{ key: 'file a', about: 'a', verdict: 'FAIL', summary: 's', at: 1 }] },
        spending: { calls: 1, tokens: 10, quietUntil: 0, refusals: 0, said: '' },
      },
      { memory: null, fails: [], spending: { calls: -1 } },
      [],
    ],
    read: (root) => {
      const state = readSessionState(root, 's')
      same(parseSessionState(JSON.parse(JSON.stringify(state))), state, 'read again, it is another state')
      const limits = { max_calls: 5, max_tokens: null }
      const asked = beforeAsking(state, { hash: 'h', key: 'file a', about: 'a' }, limits, 2_000)
      const stop = decideStop({ isActive: false, open: openFindings(state), trace: null, traceBlocks: false })
      demand(stop?.blocks === true || state.fails.fails.length === 0, 'what is open lets Claude stop')
      demand(Number.isFinite(asked.state.spending.calls), 'what was spent is no number')
      return `${asked.known?.kind ?? 'ask'} ${state.memory.entries.length} ${state.fails.fails.length}`
    },
  },
  {
    name: 'install-record',
    path: 'plan-gate/install.json',
    seeds: [
      {
        version: 1,
        package_version: '0.1.0',
        package_root: '/p',
        installed_at: 'now',
        complete: true,
        track: false,
        reviewer: null,
        reflect: false,
        config: null,
        settings: { path: '.claude/settings.json', before: null, before_mode: null, after: 'e30=', denied: ['x'] },
        files: [{ path: '.claude/hooks/plan-gate/x.mjs', sha256: hash, mode: 420 }],
        created_dirs: ['.claude'],
        excluded: ['/x'],
      },
    ],
    read: (root) => readInstallRecord(root).kind,
  },
  {
    name: 'compiled-config',
    path: '.claude/hooks/plan-gate/config.json',
    seeds: [
      {
        version: 1,
        recorded: true,
        source: null,
        problems: [],
        protected_paths: { root: { named: '/w', real: '/w' } },
        config: { gate: { tools: { allow: ['x'] } } },
      },
    ],
    read: (root) => readCompiledConfig(root).kind,
  },
  {
    name: 'thread-use',
    path: `${review}/codex_thread_use.json`,
    seeds: [{ thread: id, used: { input: 1, cached: 0, output: 2, reasoning: 0 } }],
    read: (root) => {
      const used = readThreadUse(root, id)
      demand(
        used === null || (used.input >= 0 && used.cached >= 0 && used.output >= 0 && used.reasoning >= 0),
        'less than nothing was used',
      )
      return used === null ? 'unknown' : 'known'
    },
  },
  {
    name: 'baselines',
    path: 'plan-gate/tree.json',
    seeds: [
      {
        head: hash,
        paths: { 'src/a.ts': { status: '?', digest: hash }, b: { status: '.M x', digest: null } },
        reported: null,
      },
      { head: '', paths: {}, reported: 'x' },
      { configs: { '/c': '[core]\n' }, hooks: { '/h': hash } },
      { files: { '/s': '{}', '/t': null } },
    ],
    read: (root, text) => {
      const tree = readTreeBaseline(root)
      for (const name of ['repository', 'settings']) writeFileSync(join(root, `plan-gate/${name}.json`), text)
      const others = [readRepositoryBaseline(root).kind, readSettingsBaseline(root).kind]
      if (tree.kind !== 'read') return others.join(' ')
      same(findDrift(tree.value, tree.value), [], 'a tree differs from itself')
      const drift = findDrift({ head: tree.value.head, paths: {} }, tree.value)
      demand(drift.length === Object.keys(tree.value.paths).length, 'a changed path is no drift')
      const back = findDrift(tree.value, { head: tree.value.head, paths: {} })
      demand(back.length === drift.length, 'a path that is as before is no drift')
      return `tree ${drift.length}`
    },
  },
  {
    name: 'ledger',
    path: `${review}/events.jsonl`,
    seeds: [
      `{"seq":1,"at":"a","type":"approved","prev":"${'0'.repeat(64)}","revision":1}\n`,
      `{"seq":1,"at":"a","type":"x","prev":"${'0'.repeat(64)}"}\n{"seq":2,"at":"b","type":"y","prev":"${'0'.repeat(64)}"}\n`,
      'torn',
      '\n\n',
      '{"seq":1',
      '{}\n',
    ],
    read: (root) => {
      const [events, check] = [readEvents(root), verifyLedger(root)]
      if (check.kind === 'intact')
        demand(
          events.kind === 'read' && events.events.length === check.events,
          'the chain has other events than the ledger',
        )
      return `${events.kind} ${check.kind} ${check.kind === 'broken' ? check.why.slice(0, 20) : ''}`
    },
  },
  {
    name: 'session-files',
    path: `${review}/sessions/s/denials.jsonl`,
    seeds: [
      '{"at":"a","tool":"Bash","target":"x","rule":"r","reason":"y"}\n{"at"\n',
      {
        session_id: 's',
        client_version: null,
        started_at: 'x',
        last_seen_at: '2031-01-01T00:00:00Z',
        source: 'startup',
        cwd: '/w',
      },
    ],
    read: (root, text) => {
      writeFileSync(join(root, `${review}/sessions/s/session.json`), text)
      const [session] = listSessions(root)
      demand(
        session !== undefined && Number.isFinite(session.lastSeenMs),
        'nobody knows when the session was last seen',
      )
      return `${readDenials(root, 's').length} ${session.session === null}`
    },
  },
]

/** By nothing of ours: what a person would call an approval of this plan. */
function saysApproved(text: string): boolean {
  const value = JSON.parse(text.replace(/^\ufeff/, '')) as { is_optimal?: unknown; plan_hash?: unknown } | null
  return value?.is_optimal === true && value.plan_hash === hash
}

/** In memory where the system has such a place: a million files are written. */
const memory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

export const stateFiles: readonly Target[] = rows.map(({ name, path, seeds, read }) => ({
  name,
  seeds: seeds.flatMap((seed) =>
    typeof seed === 'string' ? [seed] : [JSON.stringify(seed), JSON.stringify(seed, null, 2)],
  ),
  pieces,
  parses: 3,
  open: () => {
    const root = mkdtempSync(join(memory, 'plan-gate-fuzz-'))
    mkdirSync(dirname(join(root, path)), { recursive: true })
    return {
      look: (text) => {
        writeFileSync(join(root, path), text)
        return read(root, text)
      },
      close: () => rmSync(root, { recursive: true, force: true }),
    }
  },
}))
