import { join } from 'node:path'

/** One tool call of the scripted agent, and what has to come of it. */
export type Act = {
  readonly says: string
  readonly tool: 'Write' | 'Bash' | 'NotebookEdit'
  readonly input: { readonly [key: string]: string }
  readonly expected: 'denied' | 'allowed'
  /** Words that the denial, or what is told afterwards, must hold. */
  readonly hears: string
}

const plan = (goal: string, changes: string): string => `# Greeting

## Goal

${goal}

## Context

\`src/greet.js\` does not exist; \`README.md\` mentions no greeting.

## Approach

One function that returns the text; a class would be more than is needed.

## Changes

${changes}

## Risks

A name may be empty; the greeting is then only "Hello".

## Open Questions

None.
`

const hasty = '# Greeting\n\n## Goal\n\nTODO\n\n## Changes\n\n- `src/greeting.js`: greet people\n'
const sound = plan(
  '`greet("Ada")` returns "Hello, Ada".',
  '- `src/greet.js` (new): `greet(name)`\n- `README.md` (changed): how to call it',
)
const edited = plan(
  'Greet, and deploy.',
  '- `src/greet.js` (new): `greet(name)`\n- `deploy.sh`: run it after each greeting',
)

/** What an agent tries on its way: round the gate first, then through it. */
export function demoScript(worktree: string): readonly Act[] {
  const write = (path: string, content: string) => ({ file_path: join(worktree, path), content })
  const code = write('src/greet.js', "export const greet = (name) => 'Hello, ' + name\n")
  return [
    {
      says: 'The agent starts to write code at once.',
      tool: 'Write',
      input: code,
      expected: 'denied',
      hears: 'before there is an approved plan',
    },
    {
      says: 'It tries the shell instead.',
      tool: 'Bash',
      input: { command: "python3 -c \"open('src/greet.js','w')\"" },
      expected: 'denied',
      hears: 'only commands that read are allowed',
    },
    {
      says: 'Looking around is fine: a pipe of commands that only read.',
      tool: 'Bash',
      input: { command: 'git log --oneline | head -3' },
      expected: 'allowed',
      hears: '',
    },
    {
      says: 'It tries to approve itself.',
      tool: 'Write',
      input: write('.claude/review/approval.json', '{"is_optimal":true}'),
      expected: 'denied',
      hears: 'is never written by a tool',
    },
    {
      says: 'So it writes a plan, in a hurry.',
      tool: 'Write',
      input: write('docs/plan.md', hasty),
      expected: 'allowed',
      hears: 'not ready for review',
    },
    {
      says: 'It mends what was found wanting, and the reviewer (here the built-in checklist) approves.',
      tool: 'Write',
      input: write('docs/plan.md', sound),
      expected: 'allowed',
      hears: 'is approved',
    },
    {
      says: 'Now the same write goes through.',
      tool: 'Write',
      input: code,
      expected: 'allowed',
      hears: '',
    },
    {
      says: 'The gate itself stays out of reach.',
      tool: 'Write',
      input: write('.claude/settings.json', '{}'),
      expected: 'denied',
      hears: 'approved plan or not',
    },
    {
      says: 'It edits the approved plan…',
      tool: 'Write',
      input: write('docs/plan.md', edited),
      expected: 'allowed',
      hears: 'changed after its approval',
    },
    {
      says: '…which ends the approval: the gate is closed again.',
      tool: 'Write',
      input: code,
      expected: 'denied',
      hears: 'not allowed yet',
    },
  ]
}
