import { inScope, readPlanScope } from '../../../../src/gate/scope.ts'
import { tracePlan } from '../../../../src/reflect/at-stop.ts'
import { measureContent } from '../../../../src/review/complexity.ts'
import { checkPlan } from '../../../../src/reviewers/checklist/plan.ts'
import type { ChangedFile } from '../../../../src/system/worktree-diff.ts'
import { readOutline } from '../../../../src/text/markdown.ts'
import { demand, type Target } from '../target.ts'

export const planText = `# Invoices

## Goal
Sent once.

## Approach
1. A lock first.
   - It has an end.

\`\`\`ts
## no heading
\`\`\`

## Changes
- \`src/send.ts\` (changed): the lock
  is taken first.
- \`src/lock.ts\` (new), \`test/**/*.test.ts\`
- src/old.ts -> src/new.ts

| \`docs/{a,b}.md\` | deleted |
| --- | --- |

<!-- TODO: nothing -->

## Open Questions
- Is a lock wanted? TBD
`
export const planPieces: readonly string[] = [
  ...[
    '\n',
    '\r\n',
    '\n\n',
    '# ',
    '## ',
    '### ',
    '## Changes\n',
    '## Goal\n',
    '## Risks\n',
    '## Open Questions\n',
    '- ',
    '* ',
    '1. ',
    '  ',
    '\t',
  ],
  ...[
    '`',
    '``',
    '```',
    '~~~',
    '<!--',
    '-->',
    '> ',
    '>',
    '| ',
    '|---|',
    '---',
    '===',
    '`src/a.ts`',
    '`src/**`',
    '`*`',
    '`[a-z]?{b,c}`',
  ],
  ...[
    '(new)',
    '(changed)',
    '(deleted)',
    '->',
    '=>',
    '→',
    'rename',
    'TODO',
    'TBD',
    '???',
    '<fill in>',
    '[insert x]',
    'lorem ipsum dolor',
  ],
  ...[
    '../x',
    '/etc/passwd',
    '~/x',
    'src/',
    './a.ts:12',
    'Makefile',
    '](docs/x.md)',
    '"',
    '“',
    '”',
    "'",
    '\\',
    '*',
    '**',
    '_',
    '{',
    '}',
    '[',
    ']',
    ',',
  ],
]

/** The plan: its outline, the files that it names, and the checklist. */
export const plan: Target = {
  name: 'plan',
  seeds: [
    planText,
    planText.replaceAll('\n', '\r\n'),
    '',
    '# x',
    '## Changes\n- `a.ts`',
    '```\n## Changes\n',
    '<!--\n## Changes\n- `a.ts`\n',
    ...planText.split('\n\n'),
  ],
  pieces: planPieces,
  parses: 7,
  open: () => ({ look }),
}

const changed: readonly ChangedFile[] = [
  { path: 'src/send.ts', from: null, status: 'changed' },
  { path: 'package-lock.json', from: null, status: 'changed' },
  { path: 'src/new.ts', from: 'src/old.ts', status: 'renamed' },
]

function look(text: string): string {
  const outline = readOutline(text)
  const count = outline.lines.length
  for (const { from, to, rank } of outline.sections)
    demand(from >= 1 && from <= to && to <= count && rank >= 1 && rank <= 6, 'a section outside of the plan')
  for (const line of [1, Math.ceil(count / 2), count].filter((number) => number >= 1 && number <= count)) {
    const { from, to } = outline.blockAt(line)
    demand(from >= 1 && from <= line && line <= to && to <= count, `line ${line} is not in its own block`)
    const gap = outline.gapAfter(line)
    demand(gap >= to && gap <= count, 'a gap within a block')
  }
  const scope = readPlanScope(text)
  for (const { pattern, line } of scope) {
    demand(line >= 1 && line <= text.split('\n').length, 'a path that stands nowhere')
    demand(
      !pattern.startsWith('/') && !pattern.startsWith('~') && !pattern.split('/').includes('..'),
      'a path out of the worktree',
    )
    if (!/[*?{}[\]]/.test(pattern))
      demand(inScope(pattern.replace(/\/$/, ''), scope), 'a file that is named is not in scope')
  }
  inScope('src/very/deep/below/many/folders/a-file-with-a-long-name.test.ts', scope)
  const { level } = measureContent('plan', text, readPlanScope)
  const trace = tracePlan(scope, changed)
  const found = checkPlan(text, {
    requiredSections: ['Goal', 'Changes', 'Risks'],
    maxBytes: 50_000,
    readChanges: readPlanScope,
    exists: (path) => path.length % 2 === 0,
  })
  demand(found.length < 100, 'the checklist has no end')
  demand(
    found.every(({ evidence, problem }) => evidence.length < 1_000 && problem.length < 1_000),
    'a finding has no end',
  )
  return `${level} ${outline.sections.length} ${scope.length} ${found.length} ${outline.stillOpen} ${trace?.unplanned.length} ${(trace?.undone.length ?? 0) > 0}`
}
