import { describe, expect, it } from 'vitest'
import { loadInClient } from '../../harness/fuzz/oracle/client-loads.ts'
import { makeRandom } from '../../harness/fuzz/random.ts'
import { loadedText } from '../../harness/fuzz/targets/loaded-text.ts'

/** Promise: what is called harmless runs nothing when the real Claude Code loads it. `npm run fuzz` loads thousands. */
describe('generated skills, commands and agents', () => {
  it('run nothing where the gate sees nothing', { timeout: 300_000 }, async () => {
    const [opened, random] = [loadedText.open(), makeRandom(Date.now() % 1_000_000)]
    for (let made = 0; made < 1_000; made += 1) await opened.look(loadedText.make?.(random) ?? '')
    const { ran, failures } = await loadInClient((opened.found?.() ?? []).slice(0, 200), 200)
    expect(failures).toEqual([])
    expect(ran).toBeGreaterThan(100)
  })

  it('would be seen to run something', { timeout: 120_000 }, async () => {
    const hooks = 'hooks: {PreToolUse: [{hooks: [{type: command, command: "touch RAN"}]}]}'
    const texts = [
      '---\ndescription: X.\n---\nNow: !`touch RAN`\n',
      `---\ndescription: X.\n${hooks}\n---\nHi.\n`,
      'Now: !`touch RAN`\n',
      'Hi.\n',
      '---\nname: NAME\ndescription: X.\nmcpServers: [{evil: {command: touch, args: [RAN]}}]\n---\nHi.\n',
    ]
    const { failures } = await loadInClient(texts, 100)
    expect(failures.map(({ why }) => why.split(' ').at(-1)).sort()).toEqual(['agent', 'command', 'skill', 'skill'])
  })
})
