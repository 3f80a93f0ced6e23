import { describe, expect, it } from 'vitest'
import {
  answersTo,
  commandsOnLoad,
  type LoadedText,
  preloadsSkill,
  usesSkills,
} from '../../../src/gate/loaded-commands.ts'

const skill = (text: string | null, names = ['greet', 'SKILL.md']): LoadedText => ({ names, text })

describe('mayBeCalled', () => {
  it.each<{ text: string | null; name: string; expected: boolean }>([
    { text: 'Hello.', name: 'greet', expected: true },
    { text: 'Hello.', name: 'GREET', expected: true },
    { text: 'Hello.', name: 'team:greet', expected: true },
    { text: 'Hello.', name: 'other', expected: false },
    { text: '---\nname: hi\n---\n', name: 'hi', expected: true },
    { text: '---\nname: "Say hi"\n---\n', name: 'say hi', expected: true },
    { text: '---\nname: hi\n---\n', name: 'other', expected: false },
    { text: '---\nname: hi\nargument-name: other\n---\n', name: 'other', expected: false },
    { text: 'name: other\n', name: 'other', expected: false },
    // In another form of YAML it may be any name.
    { text: '---\n"name": other\n---\n', name: 'other', expected: true },
    { text: '---\nname: >-\n  other\n---\n', name: 'other', expected: true },
    { text: '---\nname: "o\\x74her"\n---\n', name: 'other', expected: true },
    { text: '---\n{name: other}\n---\n', name: 'other', expected: true },
    { text: '---\nname: hi\nname: other\n---\n', name: 'other', expected: true },
    { text: '---\n"n\\x61me": other\n---\n', name: 'other', expected: true },
    { text: '--- \nname: other\n---\n', name: 'other', expected: true },
    { text: '\ufeff---\r\nname: other\r\n---\r\n', name: 'other', expected: true },
    { text: '---\nname: other\n', name: 'other', expected: true },
    { text: '---\nname: größe\n---\n', name: 'größe', expected: true },
    { text: null, name: 'other', expected: true },
  ])('$text as $name → $expected', ({ text, name, expected }) => {
    expect(answersTo(skill(text), name)).toBe(expected)
  })
})

describe('runsAsLoaded', () => {
  it.each<{ text: string | null; expected: readonly string[] }>([
    { text: 'Nothing: `ls` and !important.', expected: [] },
    { text: 'Now: !`git status` and !`date`.', expected: ['git status', 'date'] },
    { text: 'glued!`ls`', expected: ['ls'] },
    { text: '!`a\nb`', expected: ['a\nb'] },
    { text: '```!\nls\n```', expected: ['ls'] },
    { text: 'In a line: ```!\nls\n``` and on.', expected: ['ls'] },
    { text: '  ````!  ls\n````', expected: ['ls'] },
    { text: '```sh\nls\n```', expected: [] },
    { text: '---\nhooks:\n  Stop: []\n---\n', expected: ['(its head sets hooks)'] },
    { text: '---\n"hooks": {Stop: []}\n---\n', expected: ['(its head sets hooks)'] },
    { text: '---\n"h\\x6foks": {Stop: []}\n---\n', expected: ['(its head sets hooks)'] },
    { text: '---\n{hooks : {Stop: []}}\n---\n', expected: ['(its head sets hooks)'] },
    { text: '---\ndescription: tells of git-hooks: all\n---\nhooks:\n', expected: [] },
    { text: null, expected: ['(its text cannot be read)'] },
  ])('$text → $expected', ({ text, expected }) => {
    expect(commandsOnLoad(skill(text))).toEqual(expected)
  })

  it('takes no longer for a text made to be slow', () => {
    const texts = [
      '!`'.repeat(200_000),
      '```!'.repeat(100_000),
      '```! '.repeat(100_000),
      `---\n${'name'.repeat(200_000)}`,
    ]
    const before = performance.now()
    for (const text of texts) expect([commandsOnLoad(skill(text)), answersTo(skill(text), 'x')]).toHaveLength(2)
    expect(performance.now() - before).toBeLessThan(10_000)
  })
})

describe('an agent that takes skills along', () => {
  it.each<{ agent: string | null; expected: boolean }>([
    { agent: '---\nname: a\n---\ngreet', expected: false },
    { agent: '---\nskills: [greet]\n---\n', expected: true },
    { agent: '---\nskills:\n  - Greet\n---\n', expected: true },
    { agent: '---\n"skills": "greet, other"\n---\n', expected: true },
    { agent: '---\nskills: [other]\n---\ngreet', expected: false },
    { agent: '---\nskills: ["gr\\x65et"]\n---\n', expected: true },
    { agent: '---\nx: &a gre\nskills: [*a]\n---\n', expected: true },
    { agent: null, expected: true },
  ])('$agent → $expected', ({ agent, expected }) => {
    const text = skill(agent, ['a.md', 'a'])
    expect(usesSkills(text) && preloadsSkill(text, skill('Hello.'))).toBe(expected)
  })
})
