import { mkdirSync, symlinkSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { answerEvent } from '../../../../src/hooks/pre-tool-use.ts'
import { gatedWorktree } from '../../../support/gated-worktree.ts'
import { demand, type Opened, type Target } from '../target.ts'
import { eventPieces, events } from './events.ts'

/** The whole PreToolUse hook but its process, on a real worktree in which nothing is approved. */
export const gateHook: Target = { name: 'gate-hook', seeds: events.slice(0, 19), pieces: eventPieces, open }

/** As in the bundle, where the modules that are loaded later lie beside the hook. */
const bundles: { readonly [name: string]: () => Promise<unknown> } = {
  'parse-command': () => import('../../../../src/gate/bash/parse.ts'),
  'check-commands': () => import('../../../../src/gate/bash/check-command.ts'),
  reviews: () => import('../../../../src/hooks/reviews.ts'),
}
const load = (file: string): Promise<unknown> | undefined => bundles[basename(file)]?.()

function open(): Opened {
  const begun = gatedWorktree({ 'src/app.ts': 'export {}\n', 'docs/plan.md': '# Plan\n' }).then((worktree) => {
    mkdirSync(worktree.at('sub'))
    symlinkSync('docs', worktree.at('alias'))
    symlinkSync('docs/plan.md', worktree.at('linked.md'))
    symlinkSync('/nowhere/at/all', worktree.at('dangling'))
    worktree.configure('gate:\n  tools:\n    allow: ["mcp__lab__*"]\n')
    return worktree
  })
  Object.assign(globalThis, { load, bundleFile: '/hooks/pre-tool-use.mjs', bundleDigests: {} })
  const look = async (text: string): Promise<string> => {
    const { root } = await begun
    process.env.CLAUDE_PROJECT_DIR = root
    const input = text.replaceAll('/w/', `${root}/`).replaceAll('"/w"', JSON.stringify(root))
    const { stdout, exitCode } = await answerEvent(input, () => {})
    if (exitCode === 0 && stdout === undefined) demand(mayPass(input, root), 'it passes, although nothing is approved')
    else demand(exitCode === 2 && isDenial(stdout ?? ''), 'its answer is none that denies')
    return `${exitCode} ${/\(rule: [\w-]+\)|[\w ]{0,20}not allowed/.exec(stdout ?? '')?.[0] ?? ''} ${/"tool_name":"\w+/.exec(input)?.[0]}`
  }
  return { look, close: () => void begun.then((worktree) => worktree.remove()) }
}

const isDenial = (stdout: string): boolean => {
  const { hookSpecificOutput } = JSON.parse(stdout)
  return hookSpecificOutput.permissionDecision === 'deny' && hookSpecificOutput.permissionDecisionReason.length > 10
}

const harmless =
  /^(?:AskUserQuestion|BashOutput|EnterPlanMode|ExitPlanMode|Glob|Grep|Kill\w+|LS|LSP|List\w+|NotebookRead|Read\w*|ReportFindings|StructuredOutput|Task\w+|Todo\w+|ToolSearch|Web\w+|Agent|Task|Skill|SlashCommand|mcp__lab__.*)$/s

/** Commands are judged by the target of their own. */
function mayPass(input: string, root: string): boolean {
  const { tool_name, tool_input, cwd } = JSON.parse(input)
  if (harmless.test(tool_name) || ['Bash', 'Monitor'].includes(tool_name)) return true
  const path = tool_input[tool_name === 'NotebookEdit' ? 'notebook_path' : 'file_path']
  return (
    ['Write', 'Edit', 'MultiEdit', 'NotebookEdit'].includes(tool_name) &&
    resolve(cwd ?? root, path) === join(root, 'docs/plan.md')
  )
}
