type Said = { verdict: string; findings?: readonly object[]; previous?: readonly object[]; question?: string }

/** What the reviewer's model answers, for a matter that it finds simple: one pass settles it. */
export const verdict = ({ verdict, findings = [], previous = [], question }: Said) => ({
  kind: 'model' as const,
  text: JSON.stringify({
    context_summary: 'One file, one line.',
    complexity: { risk_area_count: 0, files_affected: 1, scope_category: 'low' },
    verdict,
    is_optimal: verdict === 'APPROVED',
    summary: `The reviewer says ${verdict}.`,
    question: question ?? null,
    findings,
    previous_findings: previous,
  }),
})

export const finding = (problem: string, more: object = {}) => ({
  id: null,
  severity: 'major',
  section: '## Approach',
  problem,
  evidence: 'Change the line.',
  fix: 'Say what is printed.',
  ...more,
})

/** A plan that has everything the checklist asks for. */
export const planText = (approach = 'Change the line.', changes = '- `src/app.ts` (changed): print hello.'): string =>
  `# Greet

## Goal

Running \`node src/app.ts\` prints hello.

## Context

\`src/app.ts:1\` exports nothing and prints nothing.

## Approach

${approach}

## Changes

${changes}

## Risks

A wrong word would be printed; the test shows it.

## Open Questions

None.
`
