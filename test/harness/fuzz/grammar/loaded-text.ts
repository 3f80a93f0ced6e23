import type { Random } from '../random.ts'
import { forms, one } from './forms.ts'

/**
 * Skills, commands and agents: a head as YAML 1.2 has it, a body as Claude Code reads it, and both as no editor would
 * write them. `RAN` stands for a file that comes into being where something of it was run.
 */
export function makeLoadedText(random: Random): string {
  const parts = [makeHead(random), makeBody(random)]
  if (random.oneIn(20)) parts.reverse()
  const text = parts.join('')
  const end = one(random, '\n ¦ \n ¦ \n ¦ \n ¦ \n ¦ \r\n ¦ \r')
  return end === '\n' ? text : text.replaceAll('\n', end)
}

/** Where a reader may see a beginning, an end or nothing. */
export const oddities = [
  ...forms('\ufeff ¦ \0 ¦ \t ¦ \r ¦ \r\n ¦ \n\n ¦   ¦ \u00a0 ¦ \u3000 ¦ \u2028 ¦ \u2029 ¦ \u0085 ¦ \u200b ¦ \v ¦ \f'),
  ...forms('` ¦ ! ¦ # ¦  #  ¦ --- ¦ ... ¦ \\ ¦ " ¦ \' ¦ | ¦ > ¦ %YAML 1.2\n ¦ \u202e ¦ \u2800 ¦ é ¦ 😀'),
]

const many = (random: Random, most: number, make: () => string): string =>
  Array.from({ length: random.below(most + 1) }, make).join('')

const touch = 'touch RAN'
const flow = `{PreToolUse: [{hooks: [{type: command, command: "${touch}"}]}], PostToolUse: [{hooks: [{type: command, command: "${touch}"}]}]}`
const block = `\n  PreToolUse:\n    - matcher: "*"\n      hooks:\n        - type: command\n          command: ${touch}`
const server = '[{evil: {command: touch, args: [RAN]}}]'

const keys = [
  ...forms('name ¦ description ¦ version ¦ license ¦ metadata ¦ allowed-tools ¦ model ¦ when_to_use ¦ argument-hint'),
  ...forms(
    'hooks ¦ hooks ¦ hooks ¦ mcpServers ¦ arguments ¦ tools ¦ skills ¦ agent ¦ context ¦ paths ¦ effort ¦ color',
  ),
  ...forms(
    'disable-model-invocation ¦ user-invocable ¦ type ¦ shell ¦ isolation ¦ memory ¦ x ¦ "h\\x6foks" ¦ \'hooks\'',
  ),
  ...forms(
    '"\\u0068ooks" ¦ !!str hooks ¦ &a hooks ¦ *a  ¦ ? hooks\n ¦ "hoo\\\n  ks" ¦ HOOKS ¦ hooks  ¦ - hooks ¦ << ¦ ? |\n  hooks\n',
  ),
]

const values = [
  ...forms(
    'x ¦ A skill. ¦ true ¦ [x] ¦ {a: b} ¦ "x" ¦ \'x\' ¦ |\n  x\n  y ¦ >-\n  x ¦  ¦ ~ ¦ a: b ¦ x # y ¦ [a, b ¦ *a ¦ &a x',
  ),
  ...[
    '&a hooks',
    `&m {hooks: ${flow}}`,
    '*m',
    '!!str x',
    '"a\n  b"',
    'a\n  b',
    '|2\n   x',
    '|+\n\n',
    `|\n hooks: ${flow}`,
    '- x',
    '[]',
  ],
  ...[
    `x\nhooks: ${flow}`,
    `"x\n\nhooks: ${flow}"`,
    `'x'\nhooks: ${flow}`,
    `[x,\nhooks: ${flow}]`,
    `"\\\n---\n"`,
    'inline',
    'Bash(*)',
    'x: y: z',
  ],
]

function makeHead(random: Random): string {
  if (random.oneIn(8)) return ''
  // Most are well formed around what they say, since one odd character is enough to be refused.
  const isOdd = random.oneIn(3)
  const odd = (times: number): string => (isOdd && random.oneIn(times) ? random.pick(oddities) : '')
  const pick = (items: readonly string[]): string => (isOdd ? random.pick(items) : (items[0] ?? ''))
  const line = (): string => {
    const key = random.pick(keys)
    const isHooks = /ooks|\*a/.test(key)
    const value = isHooks
      ? random.pick([flow, flow, block, ` ${flow}`])
      : key === 'mcpServers'
        ? server
        : random.pick(values)
    const colon = pick(forms(':  ¦ :  ¦ :  ¦ :  ¦ : ¦  :  ¦ :\t ¦ :\n  '))
    return `${odd(15)}${pick(forms(' ¦  ¦  ¦  ¦  ¦  ¦    ¦ -  ¦ #  ¦ \t'))}${key}${colon}${value}${odd(15)}\n`
  }
  const open = pick(
    forms(
      '---\n ¦ ---\n ¦ ---\n ¦ ---\n ¦ --- \n ¦ --- ¦  ---\n ¦ ----\n ¦ \n---\n ¦ ---\t\n ¦ --- # x\n ¦ ---\n---\n ¦ +++\n',
    ),
  )
  const close = pick(
    forms('---\n ¦ ---\n ¦ ---\n ¦ ---\n ¦ --- \n ¦ --- ¦ ...\n ¦  ---\n ¦ ----\n ¦ ---x\n ¦ --- # x\n ¦ ***\n ¦ '),
  )
  const named = random.oneIn(2) ? 'name: NAME\ndescription: X.\n' : ''
  return `${odd(12)}${open}${many(random, 4, line)}${named}${many(random, 2, line)}${close}`
}

const gaps = forms(' ¦  ¦  ¦   ¦ \n ¦ \t ¦ \u200b ¦ \\ ¦ \r ¦ \u00a0 ¦ \0 ¦ <!-- -->')
const commands = [touch, touch, ` ${touch} `, `${touch} \`x`, `ls; ${touch}`, '$ARGUMENTS', `$(${touch})`, `"${touch}"`]

function makeBody(random: Random): string {
  const gap = (): string => random.pick(gaps)
  const command = (): string => random.pick(commands)
  const tick = (): string => one(random, "` ¦ ` ¦ ` ¦ ` ¦ `` ¦ ``` ¦ ' ¦ ´ ¦ ｀ ¦ \\` ¦ &#96;")
  const mark = (): string => one(random, '! ¦ ! ¦ ! ¦ ! ¦ ！ ¦ &#33; ¦ \\! ¦ !! ¦ @ ¦ ! ')
  const fence = (): string => one(random, '``` ¦ ``` ¦ ``` ¦ ~~~ ¦ ```` ¦ `` ¦ `` `')
  const part = random.pick
  return many(random, 5, () =>
    part<() => string>([
      () =>
        part([
          'Text.\n',
          '# Title\n',
          '- item\n',
          '> ',
          '    ',
          '<!-- ',
          ' -->',
          '\n',
          'x',
          '@README.md ',
          '`code` ',
          '$ARGUMENTS',
          '${CLAUDE_SKILL_DIR} ',
        ]),
      () => random.pick(oddities),
      () => `${mark()}${gap()}${tick()}${command()}${tick()}`,
      () =>
        `${fence()}${gap()}${part(['!', '!', '!', 'sh', '!sh', ' !', 'bash !', '\\!', ''])}${part(['\n', '\n', ' ', '\r', ''])}${command()}${part(['\n', '\n', '', ' '])}${fence()}\n`,
      () => `${fence()}sh\n${mark()}${tick()}${command()}${tick()}\n${fence()}\n`,
      () => `${mark()}${part(['$ARGUMENTS', '$0', '$1', '${CLAUDE_SKILL_DIR}', '(', '[', '{'])}${command()}`,
    ])(),
  )
}
