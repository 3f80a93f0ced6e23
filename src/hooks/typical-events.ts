import { planPath } from '../gate/place-of.ts'
import { dedupText } from '../reflect/dedup-text.ts'
import { reflectPath } from '../store/reflect-file.ts'
import { reviewPaths } from '../store/review-paths.ts'
import { sha256 } from '../store/sha256.ts'
import type { TypicalStep } from '../system/code-cache.ts'

type Call = readonly [tool_name: string, tool_input: object]

const write: Call = ['Write', { file_path: '/nowhere/src/a.ts', content: 'x' }]
const edit: Call = ['Edit', { file_path: '/nowhere/docs/plan.md', old_string: 'a', new_string: 'b' }]
const bash = (command: string): Call => ['Bash', { command }]

const lineOf =
  (hook_event_name: string) =>
  ([tool_name, tool_input]: Call): string =>
    JSON.stringify({ hook_event_name, permission_mode: 'default', session_id: 's', tool_name, tool_input })

const commands = [
  'git log --oneline -5',
  'git status',
  'ls -la src',
  'rg -n "a b" src',
  'cat a.txt',
  'rm -rf src',
  'npm test',
]

const other: Call = ['mcp__server__tool', {}]

/** Calls of the kinds that a hook is asked about most; what they need is compiled beforehand. */
export function typicalSteps(hook: string): readonly TypicalStep[] {
  if (hook === 'pre-tool-use')
    return [{ files: {}, events: [write, edit, ...commands.map(bash), other].map(lineOf('PreToolUse')) }]
  return [{ files: {}, events: [bash('ls'), edit, bash('ls')].map(lineOf('PostToolUse')) }, followed()]
}

/** Changes under an approved plan that the second reviewer has judged a moment ago, so that nobody is asked. */
function followed(): TypicalStep {
  const plan = '# Plan\n\n## Changes\n\n- `src/a.ts`\n'
  const at = Date.now()
  const judged = (['PASS', 'FAIL'] as const).map((verdict) => {
    const [path, content, summary] = [`src/${verdict}.ts`, `${verdict}\n`, '- src/a.ts:1: it is a line.']
    const hash = sha256(`${sha256(plan)} ${dedupText('Write', path, content, null, null)}`)
    return { call: ['Write', { file_path: path, content }] as const, known: { hash, verdict, at, path, summary } }
  })
  const entries = judged.map(({ known }) => known)
  const fails = entries.filter(({ verdict }) => verdict === 'FAIL').map((known) => openAbout(known))
  const state = { memory: { entries }, fails: { fails } }
  const calls = judged.map(({ call }) => call)
  return {
    files: {
      // Whatever becomes of the rest, nobody is asked.
      'plan-gate.yaml': 'reflect:\n  enabled: true\n  max_calls: 0\n',
      [planPath]: plan,
      [reviewPaths.approval]: JSON.stringify({ is_optimal: true, plan_hash: sha256(plan), route: 'codex' }),
      [reflectPath('s')]: JSON.stringify(state),
    },
    // The first of them compiles the configuration, which is rare.
    events: [...calls, ...calls].map(lineOf('PostToolUse')),
  }
}

const openAbout = ({ path, verdict, at, summary }: { path: string; verdict: string; at: number; summary: string }) => ({
  key: `file ${path}`,
  about: path,
  verdict,
  at,
  summary,
})
