import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ownSkills, reviewPaths, revisionPath } from '../../src/state/own-paths.ts'
import { project as root } from '../support/project.ts'

const skills = readdirSync(join(root, 'skills'))
const commands = skills.filter((skill) => !ownSkills.some((own) => own === skill))
const textOf = (skill: string): string => readFileSync(join(root, 'skills', skill, 'SKILL.md'), 'utf8')
const inBackticks = (text: string): string[] => [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)

/** What a worktree has while a plan is on its way, beside the plan itself. */
const known = new Set<string>([
  'docs/plan.md',
  '.claude/review/',
  '.claude/hooks/',
  ...Object.values(reviewPaths),
  ...(['snapshot.md', 'codex.json', 'annotated.md'] as const).map((part) => revisionPath(1, part).replace('v1', 'vN')),
])

describe.each(skills)('the skill %s', (skill) => {
  const text = textOf(skill)

  it('describes itself', () => {
    expect(text).toMatch(new RegExp(`^---\\nname: ${skill}\\ndescription: .{20,}$`, 'm'))
  })

  it('names only commands that plan-gate has', () => {
    const commands = inBackticks(text).flatMap((code) => /^plan-gate ([a-z-]+)/.exec(code)?.[1] ?? [])
    const help = spawnSync(process.execPath, [join(root, 'dist/cli.mjs'), '--help'], { encoding: 'utf8' }).stdout
    expect(commands.filter((command) => !new RegExp(`^  ${command}\\b`, 'm').test(help))).toEqual([])
  })

  it('names only skills that there are, and paths that there will be', () => {
    const codes = inBackticks(text)
    const named = codes.flatMap((code) => /^\/([a-z-]+)$/.exec(code)?.[1] ?? [])
    expect(named.filter((name) => !skills.includes(name))).toEqual([])
    const paths = codes.filter((code) => /^(\.claude|docs)\//.test(code))
    expect(paths.filter((path) => !known.has(path))).toEqual([])
  })
})

it.each(ownSkills)('%s takes what the user adds', (skill) => {
  expect(textOf(skill)).toContain('$ARGUMENTS')
})

describe.each(commands)('the command /plan-gate:%s', (command) => {
  const text = textOf(command)

  it('is started by the user alone, and runs one command of ours before anybody reads it, which alone is allowed', () => {
    expect(text).toMatch(/^disable-model-invocation: true$/m)
    const inline = text.split('\n').filter((line) => line.startsWith('!`'))
    expect(inline).toEqual([
      expect.stringMatching(/^!`node "\$\{CLAUDE_PLUGIN_ROOT\}\/\.claude-plugin\/cli\.mjs" [a-z]+`$/),
    ])
    expect(text).toContain(`\nallowed-tools: Bash(${inline[0]?.slice(2, -1)})\n`)
  })

  it('puts nothing that was typed into a shell', () => {
    for (const [code] of text.matchAll(/!`[^`]*`/g)) expect(code).not.toContain('ARGUMENTS')
  })
})

it('asks for the sections that the checklist looks for', () => {
  for (const section of ['Goal', 'Context', 'Approach', 'Changes', 'Risks', 'Open Questions'])
    expect(textOf('plan-with-review')).toContain(`\`## ${section}\``)
})
