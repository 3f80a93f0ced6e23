type Call = readonly [tool_name: string, tool_input: object]

const write: Call = ['Write', { file_path: '/nowhere/src/a.ts', content: 'x' }]
const edit: Call = ['Edit', { file_path: '/nowhere/docs/plan.md', old_string: 'a', new_string: 'b' }]
const bash = (command: string): Call => ['Bash', { command }]

/** Calls of the kinds that a hook is asked about most; what they need is compiled beforehand. */
const calls: { readonly [hook: string]: readonly Call[] } = {
  'pre-tool-use': [
    write,
    edit,
    ...[
      'git log --oneline -5',
      'git status',
      'ls -la src',
      'rg -n "a b" src',
      'cat a.txt',
      'rm -rf src',
      'npm test',
    ].map(bash),
    ['mcp__server__tool', {}],
  ],
  'post-tool-use': [bash('ls'), edit, bash('ls')],
}

const events: { readonly [hook: string]: string } = { 'pre-tool-use': 'PreToolUse', 'post-tool-use': 'PostToolUse' }

export const typicalEvents = (hook: string): string[] =>
  (calls[hook] ?? []).map(([tool_name, tool_input]) =>
    JSON.stringify({
      hook_event_name: events[hook],
      permission_mode: 'default',
      session_id: 's',
      cwd: '/',
      tool_name,
      tool_input,
    }),
  )
