import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startJourney } from '../../support/journey.ts'
import { finding, verdict } from '../../support/plan-texts.ts'
import { project } from '../../support/project.ts'
import { type Frame, terminalSvg } from '../../support/terminal-svg.ts'

/** `npm run recording`: the README's picture, from a real run of Claude Code and Codex in a terminal. */
const size = { columns: 104, rows: 31 }
const target = join(project, 'docs/pictures/session.svg')

const plan = (approach: string): string => `# A greeting

## Goal

\`greet('Ada')\` returns \`Hello, Ada!\`; \`npm test\` shows it.

## Context

\`src/login/index.js:1\` is the nearest example; nothing greets today.

## Approach

${approach}

## Changes

- \`src/greet.js\` (new): \`greet(name)\`

## Risks

None known.

## Open Questions

None.
`

const place = { root: '' }
const write = (path: string, content: string) => ({
  name: 'Write',
  input: { file_path: join(place.root, path), content },
})
const problem = 'What `greet` returns for an empty name is not said.'

const journey = await startJourney({
  size,
  claude: (_, turn) => {
    switch (turn) {
      case 1:
        return { text: 'I start with the code.', tools: [write('src/greet.js', 'export const greet = () => 1\n')] }
      case 2:
        return {
          text: 'The gate is closed, so I write the plan first.',
          tools: [write('docs/plan.md', plan('One function.'))],
        }
      case 3:
        return {
          text: 'F1 is right. I revise the plan.',
          tools: [write('docs/plan.md', plan('One function; an empty name gives `Hello!`.'))],
        }
      default:
        return {
          text: 'The plan is approved: one new function, `greet(name)`, in `src/greet.js`. Codex reviewed it. Ready to execute?',
        }
    }
  },
  codex: (request) => {
    const isFixed = JSON.stringify(request.body).includes('an empty name gives')
    return isFixed
      ? {
          ...verdict({ verdict: 'APPROVED', previous: [{ id: 'F1', status: 'fixed', reason: 'It says so now.' }] }),
          afterMs: 7000,
        }
      : { ...verdict({ verdict: 'CHANGES_REQUIRED', findings: [finding(problem, { fix: 'Say it.' })] }), afterMs: 7000 }
  },
})
place.root = join(journey.home, 'shop-strategy')

const frames: Frame[] = []
const shoot = (seconds: number): void => {
  frames.push({ text: journey.terminal.tmux('capture-pane', '-p', '-e'), seconds })
}
try {
  await journey.type('plan-gate bootstrap docs/strategy.md -- --permission-mode acceptEdits')
  await journey.terminal.seen(/launch/)
  shoot(2)
  await journey.terminal.seen(/not allowed before there is an approved plan/, 60_000)
  shoot(3)
  await journey.terminal.seen(/reviewing v1/, 60_000)
  shoot(2.5)
  await journey.terminal.seen(/v1 CHANGES_REQUIRED|revision 1 of the plan is not approved/, 60_000)
  shoot(3.5)
  await journey.terminal.seen(/reviewing v2/, 60_000)
  shoot(2)
  await journey.terminal.seen(/Ready to\s+execute/, 60_000)
  await journey.terminal.seen(/gate open/, 20_000)
  shoot(5)
} finally {
  await journey.end()
}
const shown = frames.map(({ text, seconds }) => ({ text: text.replaceAll(journey.home, '/home/ada'), seconds }))
writeFileSync(target, terminalSvg(shown, size, 'A session: code is denied, the plan is reviewed, revised and approved'))
console.log(`${target}  ${statSync(target).size} bytes`)
