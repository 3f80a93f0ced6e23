import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { codexBinary } from '../../support/claude-clients.ts'
import { hookArgs } from '../../support/hook-args.ts'
import { finding, planText, verdict } from '../../support/plan-texts.ts'
import { type ReviewedWorktree, reviewedWorktree } from '../../support/reviewed-worktree.ts'
import { type Measured, round } from './measure.ts'

type Call = { name: string; file: string; args: readonly string[]; input: string | Buffer; before?: () => void }
type Row = Measured & { against: string; ratio: number; limit: number }

/** A plan write whose reviewer answers at once, against the call of Codex that it makes; and one that changes nothing. */
export async function benchPlanWrite(runs: number): Promise<Row[]> {
  const answer = verdict({ verdict: 'CHANGES_REQUIRED', findings: [finding('It is unclear.')] })
  const worktree = await reviewedWorktree([answer])
  try {
    const { home, root, at } = worktree
    const hook = { file: process.execPath, args: hookArgs(root, 'post-tool-use'), input: eventOf(worktree) }
    let written = 0
    const asNew = (): void => {
      rmSync(at('.claude/review'), { recursive: true, force: true })
      written += 1
      writeFileSync(at('docs/plan.md'), planText(`Way number ${written}.`))
    }
    writeFileSync(join(home, 'empty.mjs'), '')
    const [node, codex, write, same] = await inTurns(worktree, runs, [
      { name: 'bare node', file: process.execPath, args: [join(home, 'empty.mjs')], input: '' },
      await bareCodex(worktree),
      { name: 'plan: write, reviewed in one pass', ...hook, before: asNew },
      { name: 'plan: write, the same bytes', ...hook },
    ])
    if (worktree.api.requests.length < 2 * runs) throw new Error('Codex was not asked each time.')
    return [
      { ...write, against: 'bare codex', ratio: round(write.median_ms / codex.median_ms), limit: 2 },
      { ...same, against: 'bare node', ratio: round(same.median_ms / node.median_ms), limit: 1.5 },
    ]
  } finally {
    worktree.remove()
  }
}

/** The very command line and prompt that a review calls it with, written down by a script in its place. */
async function bareCodex({ home, savePlan }: ReviewedWorktree): Promise<Call> {
  const [program, real] = [join(home, 'bin', 'codex'), await codexBinary()]
  const [args = '', prompt = '', turn = ''] = ['args', 'prompt', 'turn'].map((name) => join(home, name))
  unlinkSync(program)
  // The folder of the turn, with the schema and the instructions, goes with the review.
  const script = `#!/bin/sh
case "$*" in *--json*)
  printf '%s\\0' "$@" > '${args}'; cat > '${prompt}'
  for arg; do [ "$before" = -o ] && cp -r "\${arg%/*}" '${turn}'; before=$arg; done
  exec '${real}' "$@" < '${prompt}';;
esac
exec '${real}' "$@"
`
  writeFileSync(program, script, { mode: 0o755 })
  await savePlan(planText())
  unlinkSync(program)
  symlinkSync(real, program)
  const given = readFileSync(args, 'utf8').split('\0').slice(0, -1)
  const folder = dirname(given[given.indexOf('-o') + 1] ?? '')
  return {
    name: 'bare codex',
    file: program,
    args: given.map((arg) => arg.replaceAll(folder, turn)),
    input: readFileSync(prompt),
  }
}

const eventOf = ({ root, at }: ReviewedWorktree): string =>
  JSON.stringify({
    hook_event_name: 'PostToolUse',
    cwd: root,
    tool_name: 'Write',
    tool_input: { file_path: at('docs/plan.md'), content: '' },
    tool_response: {},
  })

/** As `measure` does, but without holding up the server, which answers from this very process. */
async function inTurns<const C extends readonly Call[]>(
  worktree: ReviewedWorktree,
  runs: number,
  calls: C,
): Promise<{ [I in keyof C]: Measured }> {
  const times = calls.map((): number[] => [])
  for (let run = -2; run < runs; run += 1)
    for (const [index, call] of calls.entries()) {
      call.before?.()
      const ms = await timed(worktree, call)
      if (run >= 0) times[index]?.push(ms)
    }
  return calls.map(({ name }, index) => {
    const sorted = (times[index] ?? []).sort((a, b) => a - b)
    const part = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0
    return { name, median_ms: round(part(0.5)), spread_ms: round(part(0.75) - part(0.25)) }
  }) as { [I in keyof C]: Measured }
}

async function timed({ root, env }: ReviewedWorktree, { name, file, args, input }: Call): Promise<number> {
  const since = performance.now()
  const child = spawn(file, args, { cwd: root, env: { ...env, CLAUDE_PROJECT_DIR: root } })
  child.stdout.resume()
  child.stderr.resume()
  child.stdin.end(input)
  const [exitCode] = (await once(child, 'close')) as [number | null]
  if (exitCode !== 0) throw new Error(`${name} ended with ${exitCode}`)
  return performance.now() - since
}
