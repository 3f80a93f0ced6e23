import { join } from 'node:path'
import type { Started } from './run-order.ts'
import {
  bad,
  command,
  endSession,
  good,
  hook,
  type StartName,
  statusLine,
  type World,
  write,
  wrotePlan,
} from './worlds.ts'

/** Something that plan-gate does, and what may never come of it. */
export type Scene = {
  readonly name: string
  readonly start: StartName
  readonly begin: (world: World, injector: string | null) => Started
  /** What happens right before, outside of plan-gate. */
  readonly first?: (world: World) => void
  /** The call that it judges must be denied, whatever happens. */
  readonly denies?: true
  /**
   * What the gate says afterwards to a write to a source file: closed while no approval holds, open where one holds
   * before and after, and either way where this is what gives or ends it.
   */
  readonly gate: 'closed' | 'open' | 'either'
  /** It is advice: where nobody can give it, nothing is said, and work goes on. */
  readonly isAdvice?: true
  /** All that it changes is in a folder of its own, which goes with it; others do the same in a real one. */
  readonly throwsAway?: true
  /** What somebody has to hear of it, now or the next time. */
  readonly tells?: RegExp
  /** What it ends with where nothing goes wrong, if that is not 0, or the 2 of a denial. */
  readonly exits?: number
  /** Exit codes of the same once more, beside those of the first and the second time without a fault. */
  readonly again?: readonly number[]
}

type Row = Omit<Scene, 'name' | 'begin'>
type HookRow = Row & {
  readonly event: string
  readonly word?: string
  readonly about: string
  readonly input: object | ((world: World) => object)
}
type CommandRow = Row & {
  /** It has no end of its own. */
  readonly lastsUntilEnded?: true
  /** `<work>` and `<home>` stand for these folders of the world. */
  readonly args: readonly string[]
  readonly in?: 'repo'
}

const bash = (line: string) => ({ tool_name: 'Bash', tool_input: { command: line }, tool_response: {} })
const failing = (line: string) => ({ tool_name: 'Bash', tool_input: { command: line }, error: 'exit code 1' })
const writing = (path: string) => (world: World) => ({
  tool_name: 'Write',
  tool_input: { file_path: join(world.work, path), content: 'x' },
  tool_response: {},
})
const transcript = ({ home }: World) => ({ transcript_path: join(home, 'transcript.jsonl') })
const stopping = (world: World) => ({ stop_hook_active: false, last_assistant_message: 'Done.', ...transcript(world) })
const skill = { tool_name: 'Skill', tool_input: { skill: 'tidy' } }
const presenting = { tool_name: 'ExitPlanMode', tool_input: { plan: `${bad}\nOnce more.\n` } }
const planIs = (text: string) => (world: World) => write(world.work, 'docs/plan.md', text)

const [before, after, failed] = ['PreToolUse', 'PostToolUse', 'PostToolUseFailure'] as const
const tellsDrift = /files changed although no plan is approved/
const denied = { event: before, denies: true, gate: 'closed' } as const

const hookRows: readonly HookRow[] = [
  { ...denied, about: 'a write', start: 'open', input: writing('src/app.ts') },
  { ...denied, about: 'a command', start: 'open', input: bash('cat a | xargs rm') },
  { ...denied, about: 'an outdated approval', start: 'outdated', input: writing('src/app.ts') },
  { ...denied, about: 'git, reconfigured', start: 'git reconfigured', input: bash('git status') },
  {
    ...denied,
    about: 'an MCP tool, not allowed any more',
    start: 'less allowed',
    input: { tool_name: 'mcp__notes__put', tool_input: {} },
  },
  { ...denied, about: 'an invalid plan-gate.yaml', start: 'bad config', input: bash('ls src') },
  { ...denied, about: 'a skill that runs a command', start: 'a skill with commands', input: skill },
  { ...denied, about: 'the end of plan mode', start: 'open', input: presenting },
  { ...denied, about: 'the settings', start: 'approved', gate: 'open', input: writing('.claude/settings.json') },
  { ...denied, about: 'a write out of scope', start: 'scoped', gate: 'either', input: writing('src/other.ts') },
  { event: before, about: 'a command that reads', start: 'open', gate: 'closed', input: bash('git log | head') },
  { event: before, about: 'a write, approved', start: 'approved', gate: 'open', input: writing('src/app.ts') },

  { event: after, about: 'nothing new', start: 'open', gate: 'closed', input: bash('ls') },
  {
    event: after,
    about: 'a plan sent back',
    start: 'open',
    gate: 'closed',
    first: planIs(`${bad}\nMore.\n`),
    input: wrotePlan,
  },
  { event: after, about: 'a plan approved', start: 'open', gate: 'either', first: planIs(good), input: wrotePlan },
  {
    event: after,
    about: 'a plan beyond the limit',
    start: 'limit',
    gate: 'closed',
    first: planIs(`${bad}\nAgain.\n`),
    input: wrotePlan,
  },
  {
    event: after,
    about: 'a plan, continued',
    start: 'continued',
    gate: 'either',
    first: planIs(good),
    input: wrotePlan,
  },
  {
    event: after,
    about: 'a plan, by the checklist',
    start: 'checklist',
    gate: 'either',
    first: planIs(good),
    input: wrotePlan,
  },
  { event: after, about: 'the approved plan changed', start: 'outdated', gate: 'closed', input: bash('ls') },
  { event: after, about: 'drift', start: 'drifted', gate: 'closed', tells: tellsDrift, input: bash('ls') },
  {
    event: after,
    about: 'the gate tampered with',
    start: 'tampered',
    gate: 'either',
    tells: /changed the control plane of the gate/,
    input: bash('ls'),
  },
  { event: after, about: 'an approval by hand', start: 'approved by hand', gate: 'open', input: bash('ls') },
  {
    event: after,
    about: 'a change, followed',
    isAdvice: true,
    start: 'following',
    gate: 'open',
    input: writing('src/app.ts'),
  },
  { event: failed, about: 'the approved plan changed', start: 'outdated', gate: 'closed', input: failing('make') },
  { event: failed, about: 'drift', start: 'drifted', gate: 'closed', tells: tellsDrift, input: failing('make') },
  {
    event: failed,
    word: 'reflect',
    about: 'followed',
    isAdvice: true,
    start: 'following',
    gate: 'open',
    input: failing('make'),
  },

  { event: 'SessionStart', about: 'no approval', start: 'open', gate: 'closed', input: { source: 'startup' } },
  {
    event: 'SessionStart',
    about: 'an outdated approval',
    start: 'outdated',
    gate: 'closed',
    input: { source: 'resume' },
  },
  {
    event: 'ConfigChange',
    about: 'the gate switched off',
    start: 'threatened',
    denies: true,
    gate: 'open',
    input: { source: 'local_settings' },
  },
  {
    event: 'ConfigChange',
    about: 'our hooks taken out',
    start: 'our hooks taken out',
    denies: true,
    gate: 'open',
    input: { source: 'project_settings' },
  },
  { event: 'ConfigChange', about: 'harmless', start: 'approved', gate: 'open', input: { source: 'project_settings' } },
  { event: 'Stop', about: 'followed', isAdvice: true, start: 'following', gate: 'open', input: stopping },
  {
    event: 'Stop',
    about: 'the approved plan changed',
    start: 'following',
    gate: 'closed',
    first: planIs(`${good}\nMore.\n`),
    input: stopping,
  },
  { event: 'PreCompact', about: 'followed', isAdvice: true, start: 'following', gate: 'open', input: transcript },
]

/** What is drawn below the prompt: a line, or nothing. */
const statusLineScene: Scene = {
  name: 'the status line',
  start: 'open',
  isAdvice: true,
  gate: 'closed',
  begin: (world, injector) => statusLine(world, injector),
}

const commandRows: readonly CommandRow[] = [
  {
    ...{ start: 'bare', in: 'repo', gate: 'either' },
    args: ['bootstrap', '--no-launch', '--name', 'hello', '--dir', '<work>', '--reviewer', 'hounfour'],
  },
  { start: 'bare', in: 'repo', gate: 'either', args: ['install', '--reviewer', 'checklist'] },
  { start: 'approved', gate: 'open', args: ['install'] },
  { start: 'open', gate: 'either', args: ['uninstall'] },
  { start: 'open', gate: 'closed', args: ['status'] },
  { start: 'open', gate: 'closed', args: ['log'] },
  { start: 'open', gate: 'closed', args: ['diff'] },
  { start: 'open', gate: 'either', args: ['approve', '--force', '--reason', 'it will do'], again: [0, 2] },
  { start: 'outdated', gate: 'either', args: ['approve', '--force', '--reason', 'it will do'], again: [0, 2] },
  { start: 'limit', gate: 'closed', args: ['continue'], again: [0, 2] },
  { start: 'approved', gate: 'open', args: ['verify'] },
  { start: 'drifted', gate: 'closed', exits: 1, args: ['drift', 'show'] },
  { start: 'drifted', gate: 'closed', args: ['drift', 'accept'] },
  { start: 'open', gate: 'closed', args: ['doctor'] },
  { start: 'open', gate: 'closed', args: ['explain', 'git log | head'] },
  {
    start: 'approved',
    gate: 'open',
    args: ['verify', '--export', '<home>/approval.json', '--ledger', '<home>/events'],
  },
  { start: 'outdated', gate: 'closed', args: ['report', '--output', '<home>/report.html'] },
  {
    start: 'approved',
    in: 'repo',
    gate: 'either',
    first: endSession,
    args: ['finish', '<work>', '--discard', 'uncommitted'],
    again: [2],
  },
  { start: 'open', gate: 'closed', args: ['config'] },
  { start: 'open', gate: 'closed', args: ['routes'] },
  { start: 'open', gate: 'closed', args: ['schema', 'status'] },
  { start: 'open', gate: 'closed', args: ['completion', 'bash'] },
  { start: 'open', in: 'repo', gate: 'closed', throwsAway: true, args: ['demo'] },
  { start: 'approved', gate: 'open', lastsUntilEnded: true, args: ['watch', '--no-tty'] },
  {
    start: 'checklist',
    gate: 'closed',
    args: ['review', '--type', 'plan', '--content', 'README.md', '--output', '<home>/out.json'],
  },
  {
    start: 'checklist',
    gate: 'closed',
    first: (world) => write(world.work, 'src/new.ts', 'export const x = 1\n'),
    args: ['review', '--diff'],
  },
]

export const scenes: readonly Scene[] = [
  ...hookRows.map(({ event, word = '', about, input, ...row }) => ({
    ...row,
    name: `${event}${word === '' ? '' : ` ${word}`}: ${about}`,
    begin: (world: World, injector: string | null) =>
      hook(world, event, word, typeof input === 'function' ? input(world) : input, injector),
  })),
  statusLineScene,
  ...commandRows.map(({ args, in: where, lastsUntilEnded, ...row }) => {
    const argsIn = ({ work, home }: World): string[] =>
      args.map((arg) => arg.replace('<work>', work).replace('<home>', home))
    return {
      ...row,
      name: `plan-gate ${args.slice(0, 2).join(' ')} (${row.start})`,
      begin: (world: World, injector: string | null) => {
        const started = command(world, argsIn(world), where === 'repo' ? world.repo : world.work, injector)
        return lastsUntilEnded === true ? endedAfterAWhile(started) : started
      },
    }
  }),
]

const endedAfterAWhile = ({ file, args, ...rest }: Started): Started => ({
  ...rest,
  file: '/bin/sh',
  args: ['-c', '"$@" & /bin/sleep 1.5; kill -TERM $! 2> /dev/null; wait $!', 'sh', file, ...args],
})
