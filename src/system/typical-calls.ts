const call = (tool_name: string, tool_input: object): string =>
  JSON.stringify({
    hook_event_name: 'PreToolUse',
    permission_mode: 'default',
    session_id: 's',
    cwd: '/',
    tool_name,
    tool_input,
  })

/** Calls of the kinds that the gate is asked about most; what they need is compiled beforehand. */
export const typicalCalls: readonly string[] = [
  call('Write', { file_path: '/nowhere/src/a.ts', content: 'x' }),
  call('Edit', { file_path: '/nowhere/docs/plan.md', old_string: 'a', new_string: 'b' }),
  ...['git log --oneline -5', 'git status', 'ls -la src', 'rg -n "a b" src', 'cat a.txt', 'rm -rf src', 'npm test'].map(
    (command) => call('Bash', { command }),
  ),
  call('mcp__server__tool', {}),
]
