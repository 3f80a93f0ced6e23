import { describe, expect, it } from 'vitest'
import { commandsToCheck, type Decision, decideToolCall, type GateContext } from '../../../src/gate/decide.ts'
import type { PlanState } from '../../../src/gate/plan-state.ts'
import type { PathKind } from '../../../src/gate/protected-paths.ts'
import { type ToolCall, toolCallOf } from '../../../src/gate/tools.ts'

const missing: PlanState = { kind: 'missing' }
const open: PlanState = { kind: 'open', because: 'docs/plan.md is not approved yet' }
const approved: PlanState = { kind: 'approved', hash: 'a'.repeat(64) }

const plan: PathKind = { kind: 'plan' }
const linked: PathKind = { kind: 'plan-by-a-link', why: 'a symbolic link stands on the way to it' }
const planMode: PathKind = { kind: 'plan-mode-plan', slug: 'go-on-eager-wolf' }
const control: PathKind = { kind: 'control-plane', part: '.claude/review' }
const elsewhere: PathKind = { kind: 'elsewhere' }
const unresolvable: PathKind = { kind: 'unresolvable', why: 'its symbolic links go in a circle' }

const contextOf = (
  call: ToolCall,
  plan: PlanState,
  path: PathKind,
  { configProblems = [], ...more }: Partial<GateContext> = {},
): GateContext => ({
  plan,
  configProblems,
  classify: () => path,
  permissionMode: 'bypassPermissions',
  planModeSlug: () => 'go-on-eager-wolf',
  scope: () => ({ kind: 'off' }),
  commands: commandsToCheck(call, { plan, configProblems }, inlineCommands).map((command) => ({
    command,
    refusal: command === 'ls' ? null : { rule: 'command', reason: `${command} is not on the list` },
  })),
  untrustedHead: null,
  noSandbox: null,
  toolIsAllowed: () => false,
  ...more,
})

const decideWrite = (file_path: string, more: Partial<GateContext> = {}): Decision => {
  const call = toolCallOf('Write', { file_path })
  return decideToolCall(call, contextOf(call, open, elsewhere, more))
}

const inlineCommands = ({ name }: { name: string }): string[] =>
  name === 'sneaky' ? ['ls', 'touch x'] : name === 'curious' ? ['ls'] : []

const write = { tool: 'Write', input: { file_path: '/w/x' } }
const rows: {
  tool: string
  input: object
  plan: PlanState
  place?: PathKind
  more?: Partial<GateContext>
  expected: string
}[] = [
  // A write, by where it goes and how the plan stands.
  { ...write, plan: missing, place: elsewhere, expected: 'deny write' },
  { ...write, plan: open, place: elsewhere, expected: 'deny write' },
  { ...write, plan: approved, place: elsewhere, expected: 'allow' },
  { ...write, plan: missing, place: plan, expected: 'allow' },
  { ...write, plan: open, place: plan, expected: 'allow' },
  { ...write, plan: approved, place: plan, expected: 'allow' },
  { ...write, plan: open, place: linked, expected: 'deny linked-plan' },
  { ...write, plan: open, place: planMode, expected: 'deny write' },
  { ...write, plan: open, place: planMode, more: { permissionMode: 'plan' }, expected: 'allow' },
  ...['another-plan', null].map((slug) => ({
    ...write,
    plan: open,
    place: planMode,
    more: { permissionMode: 'plan', planModeSlug: () => slug },
    expected: 'deny write',
  })),
  { ...write, plan: open, place: elsewhere, more: { permissionMode: 'plan' }, expected: 'deny write' },
  { ...write, plan: missing, place: control, expected: 'deny control-plane' },
  { ...write, plan: approved, place: control, expected: 'deny control-plane' },
  { ...write, plan: approved, place: unresolvable, expected: 'deny unresolvable' },
  // What the approved plan names.
  {
    ...write,
    plan: approved,
    place: elsewhere,
    more: { scope: () => ({ kind: 'deny', names: () => false }) },
    expected: 'deny scope',
  },
  {
    ...write,
    plan: approved,
    place: elsewhere,
    more: { scope: () => ({ kind: 'ask', names: () => false }) },
    expected: 'ask scope',
  },
  {
    ...write,
    plan: approved,
    place: elsewhere,
    more: { scope: () => ({ kind: 'deny', names: () => true }) },
    expected: 'allow',
  },
  {
    ...write,
    plan: approved,
    place: plan,
    more: { scope: () => ({ kind: 'deny', names: () => false }) },
    expected: 'allow',
  },
  {
    ...write,
    plan: open,
    place: elsewhere,
    more: { scope: () => ({ kind: 'ask', names: () => true }) },
    expected: 'deny write',
  },
  // The other tools that write.
  { tool: 'Edit', input: { file_path: '/w/x' }, plan: open, place: elsewhere, expected: 'deny write' },
  { tool: 'MultiEdit', input: { file_path: '/w/x', edits: [] }, plan: open, place: elsewhere, expected: 'deny write' },
  {
    tool: 'NotebookEdit',
    input: { notebook_path: '/w/x.ipynb' },
    plan: open,
    place: elsewhere,
    expected: 'deny write',
  },
  {
    tool: 'NotebookEdit',
    input: { notebook_path: '/w/x.ipynb' },
    plan: approved,
    place: control,
    expected: 'deny control-plane',
  },
  // What `String` would throw on.
  { tool: 'Agent', input: { isolation: { toString: 1 } }, plan: open, expected: 'deny agent' },
  { tool: 'Agent', input: { prompt: 'look', subagent_type: { toString: 1 } }, plan: open, expected: 'allow' },
  { tool: 'Skill', input: { skill: { toString: 1 } }, plan: open, expected: 'allow' },
  // Shells.
  { tool: 'Bash', input: { command: 'ls' }, plan: open, expected: 'allow' },
  { tool: 'Bash', input: { command: 'make' }, plan: open, expected: 'deny bash-command' },
  {
    tool: 'Bash',
    input: { command: 'ls', run_in_background: true, dangerouslyDisableSandbox: true },
    plan: open,
    expected: 'allow',
  },
  {
    tool: 'Bash',
    input: { command: 'make', dangerouslyDisableSandbox: true },
    plan: open,
    expected: 'deny bash-command',
  },
  { tool: 'Bash', input: { command: 'make' }, plan: approved, expected: 'allow' },
  { tool: 'Monitor', input: { command: 'ls' }, plan: missing, expected: 'allow' },
  { tool: 'Monitor', input: { command: 'tail -f x' }, plan: missing, expected: 'deny bash-command' },
  { tool: 'PowerShell', input: { command: 'dir' }, plan: open, expected: 'deny shell' },
  // Agents: what they do is judged call by call, but an isolated one opens a worktree.
  { tool: 'Agent', input: { prompt: 'look' }, plan: open, expected: 'allow' },
  { tool: 'Task', input: { prompt: 'look' }, plan: open, expected: 'allow' },
  { tool: 'Agent', input: { prompt: 'look', isolation: 'worktree' }, plan: open, expected: 'deny agent' },
  { tool: 'Agent', input: { prompt: 'look', isolation: 'worktree' }, plan: approved, expected: 'allow' },
  // Skills, by the commands that run as they are loaded.
  { tool: 'Skill', input: { skill: 'plain' }, plan: open, expected: 'allow' },
  { tool: 'Skill', input: { skill: 'curious' }, plan: open, expected: 'allow' },
  { tool: 'Skill', input: { skill: 'sneaky', args: 'x' }, plan: open, expected: 'deny skill' },
  { tool: 'SlashCommand', input: { command: '/sneaky now' }, plan: missing, expected: 'deny skill' },
  { tool: 'Skill', input: { skill: 'sneaky' }, plan: approved, expected: 'allow' },
  // Tools that leave, and tools that nobody knows.
  { tool: 'EnterWorktree', input: {}, plan: open, expected: 'deny leaving' },
  { tool: 'SendMessage', input: {}, plan: missing, expected: 'deny leaving' },
  { tool: 'CronCreate', input: {}, plan: open, expected: 'deny leaving' },
  { tool: 'ScheduleWakeup', input: {}, plan: approved, expected: 'allow' },
  { tool: 'mcp__lab__write_note', input: {}, plan: open, expected: 'deny unknown-tool' },
  { tool: 'mcp__lab__write_note', input: {}, plan: open, more: { toolIsAllowed: () => true }, expected: 'allow' },
  { tool: 'Workflow', input: {}, plan: open, expected: 'deny unknown-tool' },
  { tool: 'write', input: { file_path: '/w/x' }, plan: open, expected: 'deny unknown-tool' },
  { tool: 'constructor', input: {}, plan: open, expected: 'deny unknown-tool' },
  { tool: '', input: {}, plan: open, expected: 'deny unknown-tool' },
  // Tools that only read or talk, should they get here at all.
  { tool: 'Read', input: { file_path: '/etc/passwd' }, plan: missing, expected: 'allow' },
  { tool: 'WebFetch', input: {}, plan: missing, expected: 'allow' },
  // Calls whose input is not what the tool takes.
  { tool: 'Write', input: {}, plan: approved, expected: 'deny malformed-call' },
  { tool: 'Write', input: { file_path: ['/w/docs/plan.md'] }, plan: open, expected: 'deny malformed-call' },
  { tool: 'Write', input: { file_path: '' }, plan: open, expected: 'deny malformed-call' },
  { tool: 'Write', input: { file_path: '/w/docs/plan.md\0.txt' }, plan: approved, expected: 'deny malformed-call' },
  { tool: 'NotebookEdit', input: { file_path: '/w/docs/plan.md' }, plan: open, expected: 'deny malformed-call' },
  { tool: 'Bash', input: { command: 7 }, plan: approved, expected: 'deny malformed-call' },
  // While the configuration is invalid nobody knows what it forbids.
  {
    ...write,
    plan: approved,
    place: elsewhere,
    more: { configProblems: ['plan-gate.yaml:3:1  x'] },
    expected: 'deny invalid-config',
  },
  { ...write, plan: open, place: plan, more: { configProblems: ['plan-gate.yaml:3:1  x'] }, expected: 'allow' },
  {
    tool: 'Bash',
    input: { command: 'ls' },
    plan: approved,
    more: { configProblems: ['x'] },
    expected: 'deny invalid-config',
  },
]

describe('decideToolCall', () => {
  it.each(rows)('$tool $input with a $plan.kind plan → $expected', ({ tool, input, plan, place, more, expected }) => {
    const call = toolCallOf(tool, { ...input })
    const decision = decideToolCall(call, contextOf(call, plan, place ?? elsewhere, more))
    expect(decision.kind === 'allow' ? 'allow' : `${decision.kind} ${decision.rule}`).toBe(expected)
  })

  it('names what was refused, why, what works now and who can change it', () => {
    const decision = decideWrite('/w/src/a.ts')
    expect(decision).toEqual({
      kind: 'deny',
      rule: 'write',
      reason:
        'plan-gate: writing /w/src/a.ts is not allowed yet: docs/plan.md is not approved yet.\n' +
        'Now: read and search freely, and write docs/plan.md. Only the user can approve past the review; `plan-gate status` shows them where it stands.',
    })
  })

  it('quotes the line of the configuration that is wrong', () => {
    const problems = ['plan-gate.yaml:4:3  gate.bsah is not a known key.']
    const call = toolCallOf('Bash', { command: 'ls' })
    const decision = decideToolCall(call, contextOf(call, open, elsewhere, { configProblems: problems }))
    expect(decision).toMatchObject({
      reason: expect.stringContaining('plan-gate.yaml:4:3  gate.bsah is not a known key.'),
    })
  })

  it('keeps a hostile path from reaching the terminal or growing the message', () => {
    const path = `/w/\u001b]0;owned\u0007\u202e\n${'x'.repeat(10_000)}`
    const decision = decideWrite(path)
    const reason = decision.kind === 'deny' ? decision.reason : ''
    expect(reason).not.toMatch(/[\u001b\u0007\u202e]/)
    expect(reason.length).toBeLessThan(700)
  })
})
