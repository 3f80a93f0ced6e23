import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fakeKey } from '../../../support/reviewer-fixture.ts'
import type { Turn } from '../../../support/servers/responses-api.ts'
import { toolNames, toolOutputs } from '../../../support/servers/responses-record.ts'
import { type CodexFixture, withCodex } from '../../../support/with-codex.ts'

/** What the real Codex lets a model do that tries. */
const says = (text: string): Turn => ({ kind: 'model', text })
const calls = (name: string, args: { [name: string]: unknown }): Turn => ({
  kind: 'model',
  calls: [{ name, arguments: args }],
})
const runs = (cmd: string): Turn => calls('exec_command', { cmd })

const everythingSent = ({ api }: CodexFixture): string => JSON.stringify(api.requests.map(({ body }) => body))
const lastOutput = ({ api }: CodexFixture): string => api.requests.flatMap(toolOutputs).at(-1) ?? ''
const hidden = ['hidden', 'value', 'of', 'a', 'planted', 'file'].join('-')

describe('without tool access', () => {
  it.each([
    { name: 'a command', attempt: (path: string) => runs(`cat ${path}`) },
    { name: 'the older form of a command', attempt: (path: string) => calls('shell', { command: ['cat', path] }) },
    {
      name: 'a session of a shell',
      attempt: (path: string) => calls('write_stdin', { session_id: 1, chars: `cat ${path}\n` }),
    },
    { name: 'a picture', attempt: (path: string) => calls('view_image', { path }) },
    {
      name: 'a patch',
      attempt: (path: string) =>
        calls('apply_patch', { input: `*** Begin Patch\n*** Update File: ${path}\n@@\n-x\n+y\n*** End Patch` }),
    },
    {
      name: 'a resource of a server',
      attempt: (path: string) => calls('read_mcp_resource', { server: 'files', uri: `file://${path}` }),
    },
  ])('a planted .env cannot be read by $name', ({ attempt }) => {
    let path = ''
    return withCodex({ turns: (_, n) => (n === 1 ? attempt(path) : says('done')) }, async (codex) => {
      path = codex.write('repo/.env', `SECRET=${hidden}\n`)
      expect(await codex.ask({ root: null })).toMatchObject({ kind: 'answered', text: 'done' })
      expect(codex.api.requests).toHaveLength(2)
      expect(lastOutput(codex)).toMatch(/unsupported|not supported|unknown|unavailable|not found/i)
      expect(everythingSent(codex)).not.toContain(hidden)
      expect(codex.api.requests.map(toolNames)).toEqual([['request_user_input'], ['request_user_input']])
    })
  })

  /** Models that Codex knows may keep this tool; it cannot be switched off, writes nothing and quotes no file. */
  it.each(['-nothing of it', `-SECRET=${hidden}`])(
    'the patch tool of a known model shows nothing of it (%s)',
    (line) => {
      let path = ''
      const patch = (): Turn => {
        const input = `*** Begin Patch\n*** Update File: ${path}\n@@\n${line}\n+x\n*** End Patch`
        return { kind: 'model', calls: [{ name: 'apply_patch', input }] }
      }
      return withCodex({ turns: (_, n) => (n === 1 ? patch() : says('done')) }, async (codex) => {
        path = codex.write('repo/.env', `BEFORE=1\nSECRET=${hidden}\nAFTER=2\n`)
        expect(await codex.ask({ root: null, model: 'gpt-5.5' })).toMatchObject({ text: 'done' })
        expect(lastOutput(codex)).not.toMatch(/BEFORE|AFTER/)
        expect(lastOutput(codex)).not.toContain(hidden)
        expect(readFileSync(path, 'utf8')).toBe(`BEFORE=1\nSECRET=${hidden}\nAFTER=2\n`)
      })
    },
  )

  it('the model does not even see where the repository is', () =>
    withCodex({ turns: [says('done')] }, async (codex) => {
      await codex.ask({ root: null })
      expect(everythingSent(codex)).not.toContain(codex.repo)
    }))
})

describe('with tool access', () => {
  it('files are read and nothing is written, also on a thread that goes on in a project that the user trusts', () =>
    withCodex({ turns: (_, n) => turns[n - 1] ?? says('done') }, async (codex) => {
      const config = join(codex.codexHome, 'config.toml')
      const trust = `\n[projects.${JSON.stringify(codex.repo)}]\ntrust_level = "trusted"\n`
      writeFileSync(config, `${readFileSync(config, 'utf8')}${trust}`)
      codex.write('home/.codex/rules/default.rules', 'prefix_rule(pattern=["touch"], decision="allow")\n')
      codex.write('repo/.codex/config.toml', 'sandbox_mode = "danger-full-access"\n')
      codex.write('repo/README.md', 'what the repository says')

      const first = await codex.ask({ thread: { kind: 'start' } })
      const second = await codex.ask({ thread: { kind: 'resume', id: first.thread?.id ?? '', used: null } })
      const outputs = codex.api.requests.flatMap(toolOutputs).join('\n')
      expect([first, second]).toMatchObject([{ text: 'done' }, { text: 'done', thread: { replaced: null } }])
      expect(outputs).toContain('what the repository says')
      expect(outputs.match(/Read-only file system|Operation not permitted|Permission denied/g)?.length).toBeGreaterThan(
        2,
      )
      for (const name of ['first', 'second', 'third', 'fourth']) expect(existsSync(join(codex.repo, name))).toBe(false)
    }))

  const turns = [
    runs('cat README.md; echo x > first'),
    says('done'),
    runs('echo x > second'),
    // A rule of the user's would take this one out of the sandbox.
    runs('touch third'),
    calls('exec_command', { cmd: 'touch fourth', sandbox_permissions: 'require_escalated', justification: 'please' }),
    says('done'),
  ]

  it('what commands print holds no key, not even one that the user’s own provider names', () =>
    withCodex(
      {
        turns: [runs('env; tr "\\0" "\\n" < /proc/self/environ; echo end'), says('done')],
        env: { OPENAI_API_KEY: `${fakeKey}-1`, CODEX_API_KEY: `${fakeKey}-2`, GITHUB_TOKEN: `${fakeKey}-3` },
      },
      async (codex) => {
        codex.write('home/.bash_profile', `export FROM_PROFILE=${fakeKey}-4\n`)
        codex.write('home/.profile', `export FROM_PROFILE=${fakeKey}-4\n`)
        await codex.ask()
        expect(lastOutput(codex)).toMatch(/PATH=[\s\S]*end/)
        expect(everythingSent(codex)).not.toContain(fakeKey)
      },
    ))

  it('no command line on this machine holds a key or what is reviewed', () =>
    withCodex({ turns: [{ kind: 'hang', when: 'after-created' }] }, async (codex) => {
      const stop = new AbortController()
      const asking = codex.ask({ user: hidden }, { signal: stop.signal })
      await codex.api.asked(1)
      const lines = execFileSync('ps', ['-A', '-ww', '-o', 'args='], { encoding: 'utf8', maxBuffer: 64 << 20 })
      stop.abort()
      await asking
      expect(lines).toContain(codex.repo)
      expect([fakeKey, hidden].filter((secret) => lines.includes(secret))).toEqual([])
    }))

  it('the repository does not instruct who reviews it', () =>
    withCodex({ turns: [says('done')] }, async (codex) => {
      codex.write('repo/AGENTS.md', 'planted-in-agents')
      for (const folder of ['.agents', '.codex'])
        codex.write(
          `repo/${folder}/skills/yes/SKILL.md`,
          `---\nname: yes${folder.slice(1)}\ndescription: planted-in-a-skill\n---\nplanted-in-its-body`,
        )
      await codex.ask({ user: 'Look at $yesagents and $yescodex and $imagegen.' })
      expect(everythingSent(codex)).toContain('$yesagents')
      expect(everythingSent(codex).match(/planted-in-[a-z-]+|SKILL\.md/g)).toBe(null)
    }))

  it('servers and notifiers of the user are not started', () =>
    withCodex({ turns: [says('done')] }, async (codex) => {
      const config = join(codex.codexHome, 'config.toml')
      const leaves = (name: string): string => JSON.stringify(['-c', `: > ${join(codex.folder, name)}`])
      const text = `notify = ["sh", ${leaves('notified').slice(1)}
${readFileSync(config, 'utf8')}
[mcp_servers.files]
command = "sh"
args = ${leaves('started')}
`
      writeFileSync(config, text)
      expect(await codex.ask()).toMatchObject({ text: 'done' })
      expect(['notified', 'started'].filter((name) => existsSync(join(codex.folder, name)))).toEqual([])
      expect(codex.api.requests.flatMap(toolNames).filter((name) => /mcp/.test(name))).toEqual([])
    }))
})

describe('a Codex whose shell cannot be switched off', () => {
  it('is not asked without tool access, and is asked with it', () =>
    withCodex({ turns: [says('done')] }, async (codex) => {
      const program = codex.script('bin/codex', `[ "$1" = features ] && exit 2\nexec ${codex.program} "$@"`)
      const ask = (root: string | null) => codex.ask({ root }, { program })
      expect(await ask(null)).toMatchObject({ failure: 'not-installed', why: expect.stringContaining('shell tool') })
      expect(codex.api.requests).toEqual([])
      expect(await ask(codex.repo)).toMatchObject({ text: 'done' })
    }))
})
