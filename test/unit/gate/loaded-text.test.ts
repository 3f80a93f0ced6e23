import { describe, expect, it } from 'vitest'
import { answersTo, commandsOnLoad, readLoadedText } from '../../../src/gate/loaded-text.ts'

const unclear = (why: string): string => `(its head ${why})`
const manyKeys = unclear('is not a plain list of keys')
const noYaml = unclear('is not plain YAML')
const noEnd = '(where its head ends is not clear)'

describe('answersTo', () => {
  it.each<{ text: string | null; name: string; expected: boolean }>([
    { text: 'Hello.', name: 'greet', expected: true },
    { text: 'Hello.', name: 'GREET', expected: true },
    { text: 'Hello.', name: 'team:greet', expected: true },
    { text: 'Hello.', name: 'other', expected: false },
    { text: '---\nname: hi\n---\n', name: 'hi', expected: true },
    { text: '---\nname: "Say hi"\n---\n', name: 'say hi', expected: true },
    { text: '---\nname: >-\n  other\n---\n', name: 'other', expected: true },
    { text: '---\nname: "o\\x74her"\n---\n', name: 'other', expected: true },
    { text: '---\nname: größe\n---\n', name: 'größe', expected: true },
    { text: '\ufeff---\r\nname: other\r\n---\r\n', name: 'other', expected: true },
    { text: '--- \nname: other\n---\n', name: 'other', expected: true },
    { text: '---\nname: hi\n---\n', name: 'other', expected: false },
    { text: '---\nname: hi\nargument-hint: other\n---\n', name: 'other', expected: false },
    { text: 'name: other\n', name: 'other', expected: false },
    // What is not understood may have any name.
    { text: '---\n"name": other\n---\n', name: 'any', expected: true },
    { text: '---\n{name: other}\n---\n', name: 'any', expected: true },
    { text: '---\nname: hi\nname: other\n---\n', name: 'any', expected: true },
    { text: '---\nname: [hi]\n---\n', name: 'any', expected: true },
    { text: '---\nname: other\n', name: 'any', expected: true },
    { text: null, name: 'any', expected: true },
  ])('$text as $name → $expected', ({ text, name, expected }) => {
    expect(answersTo({ names: ['greet', 'SKILL.md'], ...readLoadedText(text) }, name)).toBe(expected)
  })
})

describe('commandsOnLoad', () => {
  it.each<{ text: string | null; expected: readonly string[] }>([
    { text: 'Nothing: `ls` and !important.', expected: [] },
    { text: 'Now: !`git status` and !`date`.', expected: ['git status', 'date'] },
    { text: 'glued!`ls`', expected: ['ls'] },
    { text: '!`a\nb`', expected: ['a\nb'] },
    { text: '```!\nls\n```', expected: ['ls'] },
    { text: 'In a line: ```!\nls\n``` and on.', expected: ['ls'] },
    { text: '  ````!  ls\n````', expected: ['ls'] },
    { text: '```sh\nls\n```', expected: [] },
    // One form begins inside of another.
    { text: 'wow!`ls !`touch P` ``', expected: ['ls !', 'touch P'] },
    { text: '``` !ls ```!\ntouch P\n```', expected: ['ls', 'touch P'] },
    { text: '```! ls !`touch P` ```', expected: ['touch P', 'ls !`touch P`'] },
    // Arguments are put in before commands are searched for.
    { text: 'Now: !$ARGUMENTS', expected: ['$ARGUMENTS'] },
    { text: "!`ls '$ARGUMENTS'`", expected: ["ls '$ARGUMENTS'", '$ARGUMENTS'] },
    { text: '!`ls $0`', expected: ['ls $0', '$ARGUMENTS'] },
    { text: '---\narguments: [what]\n---\n!`git $what`', expected: ['git $what', '$ARGUMENTS'] },
    { text: '!`ls $HOME` of `$ARGUMENTS`', expected: ['ls $HOME'] },
    // Heads.
    {
      text: '---\ndescription: Greets.\nallowed-tools: [Read, "Bash(ls)"]\nmetadata:\n  a: {b: c}\n---\nHi.',
      expected: [],
    },
    { text: '---\ndescription: >-\n  hooks: none\n---\nHi.', expected: [] },
    { text: '---\ntools:\n- Read\n# hooks:\n\n---\nHi.', expected: [] },
    { text: '---\n---\nHi.', expected: [] },
    { text: '---\nname: x\ndescription: Use it when: a "b" <c>: d\n---\nHi.', expected: [] },
    { text: '---\r\ndescription: Use it when: a\r\nhooks: b\r\n---\r\nHi.', expected: ['(its head sets hooks)'] },
    { text: '---\ndescription: tells of git-hooks\n---\nhooks:\n', expected: [] },
    { text: '---\nhooks:\n  Stop: []\n---\n', expected: ['(its head sets hooks)'] },
    { text: '---\nmcpServers:\n  - evil: {command: x}\n---\n', expected: ['(its head sets mcpServers)'] },
    {
      text: '---\nisolation: worktree\nmemory: project\n---\n',
      expected: ['(its head sets isolation)', '(its head sets memory)'],
    },
    { text: '---\n"hooks": {Stop: []}\n---\n', expected: [manyKeys] },
    { text: '---\n"h\\x6foks": {Stop: []}\n---\n', expected: [manyKeys] },
    { text: '---\n{hooks : {Stop: []}}\n---\n', expected: [manyKeys] },
    { text: '---\n? hooks # c\n: {Stop: []}\n---\n', expected: [manyKeys] },
    { text: '---\n!!map\nname: x\n---\n', expected: [manyKeys] },
    { text: '---\n%YAML 1.1\nname: x\n---\n', expected: [manyKeys] },
    { text: '---\nname: x\n...\nhooks: {}\n---\n', expected: [manyKeys] },
    { text: '---\n  name: x\n  hooks: {}\n---\n', expected: [manyKeys] },
    { text: '---\nname: "x\nhooks: y"\n---\n', expected: [noYaml] },
    { text: '---\nwhen_to_use: &a hooks\n*a : {Stop: []}\n---\n', expected: [manyKeys] },
    { text: '---\nwhen_to_use: &a hooks\nmetadata:\n  *a : {Stop: []}\n---\n', expected: [noYaml] },
    { text: '---\nmetadata: &a {hooks: 1}\n---\n', expected: [noYaml] },
    { text: '---\nmetadata:\n  <<: {hooks: 1}\n---\n', expected: [noYaml] },
    { text: '---\nname: !!str x\n---\n', expected: [noYaml] },
    { text: '---\nmetadata:\n  1: x\n---\n', expected: [noYaml] },
    { text: '---\nname: x\nname: y\n---\n', expected: [noYaml] },
    { text: '---\ndescription: a: b\n  hooks: c\n---\n', expected: [noYaml] },
    { text: '---\nname: x\n\thooks: y\n---\n', expected: [noYaml] },
    { text: '---\nname: x\u2028hooks: y\n---\n', expected: [unclear('has invisible characters')] },
    { text: '---\nname: x\rhooks: y\n---\n', expected: [unclear('has invisible characters')] },
    {
      text: '---\nskills: {a: b}\n---\n',
      expected: ['(its head names a skill or an agent in a way that is not understood)'],
    },
    { text: '---\nname: a---\nhooks: y\n---\n', expected: [noEnd] },
    { text: '---\nname: a\n', expected: [noEnd] },
    { text: ' \ufeff\n---\nhooks: {}\n---\n', expected: ['(its head sets hooks)'] },
    { text: '-\0-\0-\0', expected: ['(its text cannot be read)'] },
    { text: null, expected: ['(its text cannot be read)'] },
  ])('$text → $expected', ({ text, expected }) => {
    expect(commandsOnLoad(readLoadedText(text))).toEqual(expected)
  })

  it('takes no longer for a text made to be slow', () => {
    const texts = [
      `---\nhooks x${'\t'.repeat(1_000_000)}\n---\n`,
      `---\nk: x: y${'\t'.repeat(32_000)}z\n---\n`,
      '!`'.repeat(200_000),
      '```!'.repeat(100_000),
      '```! '.repeat(100_000),
      `---\n${'name'.repeat(200_000)}`,
      `---\nname: ${'[{'.repeat(90)}\n---\n`,
      `---\n${'name:\n'.repeat(5_000)}---\n`,
      ...Array.from({ length: 25 }, () => `---\n${Array.from({ length: 4_000 }, (_, n) => `k${n}:\n`).join('')}---\n`),
    ]
    const before = performance.now()
    for (const text of texts) expect(readLoadedText(text)).toBeTruthy()
    expect(performance.now() - before).toBeLessThan(10_000)
  })
})

describe('what is taken along', () => {
  it.each<{ head: string; expected: readonly string[] }>([
    { head: 'name: a', expected: [] },
    { head: 'skills: [greet, "gr\\x65et2"]', expected: ['skill greet', 'skill greet2'] },
    { head: 'skills: greet, other', expected: ['skill greet', 'skill other'] },
    { head: 'context: inline', expected: [] },
    { head: 'context: fork', expected: ['agent general-purpose'] },
    { head: 'context: fork\nagent: X', expected: ['agent X'] },
    { head: 'agent: X', expected: ['agent X'] },
  ])('$head → $expected', ({ head, expected }) => {
    expect(readLoadedText(`---\n${head}\n---\n`).takes.map(({ kind, name }) => `${kind} ${name}`)).toEqual(expected)
  })
})
