/** What Claude Code writes to hooks, one of each kind. */
const common = { session_id: '0b1c', transcript_path: '/h/t.jsonl', cwd: '/w', permission_mode: 'default' }

const call = (tool_name: string, tool_input: object, more: object = {}) => ({
  ...common,
  hook_event_name: 'PreToolUse',
  tool_name,
  tool_input,
  tool_use_id: 'toolu_1',
  ...more,
})

const toolCalls = [
  call('Write', { file_path: '/w/docs/plan.md', content: '# Plan\n' }),
  call('Write', { file_path: '/w/src/app.ts', content: 'x' }),
  call('Write', { file_path: 'docs/plan.md', content: 'x' }, { agent_id: 'a1', agent_type: 'general-purpose' }),
  call('Edit', { file_path: '/w/.claude/review/approval.json', old_string: 'a', new_string: 'b', replace_all: true }),
  call('MultiEdit', { file_path: '/w/docs/../src/b.ts', edits: [{ old_string: 'a', new_string: 'b' }] }),
  call('NotebookEdit', { notebook_path: '/w/n.ipynb', cell_id: 'c', new_source: 'x' }),
  call('Write', { file_path: '/h/.claude/plans/deep-blue.md', content: 'x' }, { permission_mode: 'plan' }),
  call('Bash', { command: 'ls -la', description: 'List' }),
  call('Bash', { command: "git log --format='%h %s' | head -3" }),
  call('Bash', { command: 'rm -rf src', timeout: 1000, run_in_background: true }),
  call('Monitor', { command: 'tail -f x' }),
  call('PowerShell', { command: 'Get-ChildItem' }),
  call('Agent', { prompt: 'look', isolation: 'worktree' }),
  call('Task', { prompt: 'look', subagent_type: 'Explore' }),
  call('Skill', { skill: 'plan-with-review' }),
  call('SlashCommand', { command: '/implement-approved-plan now' }),
  call('Read', { file_path: '/w/a' }),
  call('EnterWorktree', { name: 'x' }),
  call('mcp__lab__note', { text: 'x' }, { mcp_server: { name: 'lab' } }),
]

export const events: readonly string[] = [
  ...toolCalls,
  ...toolCalls
    .slice(0, 8)
    .map((event) => ({
      ...event,
      hook_event_name: 'PostToolUse',
      tool_response: {
        type: 'update',
        structuredPatch: [{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: ['-a', '+b'] }],
      },
      duration_ms: 3,
    })),
  {
    ...call('mcp__fs__write_file', { path: 'src/a.ts', content: 'x' }),
    hook_event_name: 'PostToolUse',
    tool_response: [{ type: 'text', text: 'done' }],
  },
  {
    ...call('ExitPlanMode', { plan: '# Plan' }),
    hook_event_name: 'PostToolUse',
    tool_response: { plan: '# Plan', filePath: '/h/p.md' },
  },
  {
    ...call('Agent', { prompt: 'p', subagent_type: 's' }),
    hook_event_name: 'PostToolUse',
    tool_response: { content: [{ type: 'text', text: 'answer' }] },
  },
  {
    ...call('Bash', { command: 'npm test' }),
    hook_event_name: 'PostToolUseFailure',
    error: 'Exit code 7',
    is_interrupt: false,
  },
  { ...common, hook_event_name: 'PostToolBatch', tool_calls: [{ tool_name: 'Write', tool_response: 'done' }] },
  { ...call('Bash', { command: 'ls' }), hook_event_name: 'PermissionRequest', permission_suggestions: [] },
  { ...common, hook_event_name: 'Stop', stop_hook_active: false, last_assistant_message: 'done' },
  { ...common, hook_event_name: 'SubagentStop', stop_hook_active: true, agent_id: 'a1' },
  { ...common, hook_event_name: 'PreCompact', trigger: 'auto', custom_instructions: '' },
  { ...common, hook_event_name: 'SessionStart', source: 'startup' },
  { ...common, hook_event_name: 'SessionEnd', reason: 'other' },
  { ...common, hook_event_name: 'SubagentStart', agent_id: 'a1' },
  { ...common, hook_event_name: 'ConfigChange', source: 'local_settings', file_path: '/w/.claude/settings.local.json' },
  { ...common, hook_event_name: 'InstructionsLoaded', file_path: '/w/CLAUDE.md', load_reason: 'session_start' },
  { ...common, hook_event_name: 'UserPromptSubmit', prompt: 'hello' },
].map((event) => JSON.stringify(event))

/** Names and values that mean something to a hook, and paths that nearly do. */
export const eventPieces: readonly string[] = [
  ...['PreToolUse', 'PostToolUse', 'Stop', 'hook_event_name', 'tool_name', 'tool_input', 'file_path', 'notebook_path'],
  ...['command', 'skill', 'isolation', 'permission_mode', 'plan', 'default', 'bypassPermissions', 'cwd', 'session_id'],
  ...['Write', 'Edit', 'MultiEdit', 'NotebookEdit', 'Bash', 'Monitor', 'PowerShell', 'Agent', 'Skill', 'Read', 'Glob'],
  ...['ExitPlanMode', 'SendMessage', 'CronCreate', 'mcp__fs__write', 'mcp__lab__note', 'write', 'WRITE', 'Write '],
  ...[
    '/w/docs/plan.md',
    '/w/docs/./plan.md',
    '/w//docs/plan.md',
    '/w/docs/../docs/plan.md',
    'docs/plan.md',
    'DOCS/PLAN.MD',
  ],
  ...[
    '/w/.claude/review/approval.json',
    '/w/.CLAUDE/review/x',
    '/w/.claude./review',
    '/w/.claude/hooks/x',
    '/w/.git/config',
  ],
  ...[
    '/w/plan-gate.yaml',
    '/w/PLAN-GATE.yaml',
    '/w/.claude/settings.local.json',
    '/w/.claude/settings.json::$DATA',
    '..',
    '/',
  ],
  ...[
    '/h/.claude/plans/x.md',
    '/h/.claude/settings.json',
    '/h/.gitconfig',
    '/w/sub/.git/hooks/x',
    '/real/w/src/a',
    '~',
    '\u017f',
  ],
  ...[
    'ls',
    'rm -rf /',
    'git status',
    'plan-with-review',
    'sneaky',
    'worktree',
    '{"a":1}',
    '[]',
    'true',
    'null',
    '.',
    ' ',
    '::$DATA',
  ],
]
