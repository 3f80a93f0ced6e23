import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { claudeBinary } from '../../../support/claude-clients.ts'
import { runClaude } from '../../../support/run-claude.ts'
import type { ToolUse } from '../../../support/servers/messages-api.ts'
import type { Confirmed } from '../target.ts'

/**
 * Loads texts as skills, commands and agents in the real Claude Code, many in one session, and sees which of them ran
 * something: each has a file of its own that would come into being. There is no gate in that folder.
 */
export async function loadInClient(texts: readonly string[], seconds: number): Promise<Confirmed> {
  if (!(await claudeBinary('newest').catch(() => false))) return { ran: 0, how: 'Claude Code is MISSING', failures: [] }
  const until = performance.now() + seconds * 1_000
  const failures = []
  let [ran, sessions] = [0, 0]
  for (let at = 0; at < texts.length && (at === 0 || performance.now() < until); at += atOnce) {
    const batch = texts.slice(at, at + atOnce)
    const { loaded, started } = await loadTogether(batch)
    ran += loaded
    sessions += 1
    failures.push(
      ...started.map((index) => ({ input: batch[index] ?? '', why: `Claude Code runs it as ${kindOf(index)}` })),
    )
  }
  return { ran, how: `loaded by Claude Code in ${sessions} sessions`, failures }
}

/** Ten calls in a turn. */
const atOnce = 250
const inTurn = 10

const kinds = ['skill', 'skill', 'command', 'skill', 'agent'] as const
const kindOf = (index: number) => kinds[index % kinds.length] ?? 'skill'
const paths = {
  skill: (name: string) => `.claude/skills/${name}/SKILL.md`,
  command: (name: string) => `.claude/commands/${name}.md`,
  agent: (name: string) => `.claude/agents/${name}.md`,
}

async function loadTogether(texts: readonly string[]): Promise<{ loaded: number; started: number[] }> {
  const base = mkdtempSync(join(tmpdir(), 'loads-'))
  const [cwd, ran] = [join(base, 'here'), join(base, 'ran')]
  mkdirSync(ran)
  try {
    for (const [index, text] of texts.entries()) {
      const path = join(cwd, paths[kindOf(index)](`x${index}`))
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text.replaceAll('RAN', join(ran, String(index))).replaceAll('NAME', `x${index}`))
    }
    writeFileSync(join(cwd, 'README.md'), '')
    // The servers and hooks of an agent run only where the user trusts the folder.
    const home = join(base, 'home')
    mkdirSync(home)
    const projects = { [realpathSync(cwd)]: { hasTrustDialogAccepted: true } }
    writeFileSync(join(home, '.claude.json'), JSON.stringify({ projects }))
    const calls = texts.map((_, index) => callOf(index))
    const turns = Array.from({ length: Math.ceil(calls.length / inTurn) }, (_, at) => ({
      tools: calls.slice(at * inTurn, (at + 1) * inTurn),
    }))
    const read = { tools: [{ name: 'Read', input: { file_path: join(cwd, 'README.md') } }] }
    const { toolResults } = await runClaude({
      client: 'newest',
      cwd,
      home,
      turns: [...turns, read],
      timeoutMs: 240_000,
    })
    const called = toolResults.filter(({ tool, isError }) => !isError && tool !== 'Read')
    return { loaded: called.length, started: existsSync(ran) ? readdirSync(ran).map(Number) : [] }
  } finally {
    rmSync(base, { recursive: true, force: true, maxRetries: 3 })
  }
}

const callOf = (index: number): ToolUse =>
  kindOf(index) === 'agent'
    ? { name: 'Agent', input: { description: 'x', prompt: 'Go.', subagent_type: `x${index}` } }
    : { name: 'Skill', input: { skill: `x${index}` } }
