import { commandsOnLoad, readLoadedText } from '../../../../src/gate/loaded-text.ts'
import { makeLoadedText, oddities } from '../grammar/loaded-text.ts'
import { loadInClient } from '../oracle/client-loads.ts'
import { readElsewhere } from '../oracle/yaml-readers.ts'
import { demand, type Failure, type Target } from '../target.ts'

/** `gate/loaded-text`: whether a skill, a command or an agent runs something when Claude Code loads it. */
export const loadedText: Target = {
  name: 'loaded-text',
  seeds: [
    '---\ndescription: X.\n---\nNow: !`touch RAN`\n',
    '---\nhooks: {}\n---\nHi.\n',
    'Hi.\n',
    '---\nname: a\nskills: [b]\n---\n',
  ],
  pieces: [
    ...oddities,
    'hooks',
    ': ',
    '\n',
    '---\n',
    '!`touch RAN`',
    '```!\ntouch RAN\n```',
    '- ',
    '  ',
    '{',
    '}',
    '[',
    ']',
    '$ARGUMENTS',
  ],
  make: makeLoadedText,
  parses: 2,
  open,
  confirm: loadInClient,
}

const atOnce = 1_000
const mostFound = 20_000

function open() {
  const harmless = new Set<string>()
  const waiting: { text: string; isHarmless: boolean; label: string | null }[] = []
  let [allowed, compared] = [0, 0]
  const look = (input: string): string => {
    // As a file has it.
    const text = Buffer.from(input).toString()
    const loaded = readLoadedText(text)
    const isHarmless = commandsOnLoad(loaded).length + loaded.takes.length === 0
    demand(!(isHarmless && loaded.label === undefined), 'nothing is known of it, and it is harmless')
    if (loaded.label !== undefined && headsOf(text).length > 0) waiting.push({ text, isHarmless, label: loaded.label })
    if (isHarmless) allowed += 1
    if (isHarmless && harmless.size < mostFound) harmless.add(text)
    return `${isHarmless} ${loaded.problems.map((problem) => problem.slice(0, 40)).sort()} ${loaded.commands.length > 0} ${loaded.takes.length > 0}`
  }
  const settle = (): readonly Failure[] => {
    if (waiting.length < atOnce) return []
    const batch = waiting.splice(0)
    compared += batch.length
    const heads = batch.flatMap((one) => headsOf(one.text).map((head) => ({ ...one, head })))
    const readings = readElsewhere(heads.map(({ head }) => head))
    return heads.flatMap(({ text, isHarmless, label }, at) =>
      (readings[at] ?? []).flatMap(({ by, value }) => {
        const why = contradicts(value, isHarmless, label)
        return why === null ? [] : [{ input: text, why: `${by} reads ${why}` }]
      }),
    )
  }
  const found = (): string[] => [...harmless]
  return { look, settle, found, figures: () => ({ allowed, 'heads before Bun and js-yaml': compared }) }
}

/** Its head for one who looks for the first `---` in a line, or for the first one anywhere. */
function headsOf(text: string): string[] {
  // As the client reads files.
  const unix = text.replaceAll('\r\n', '\n')
  const start = /^[\s\ufeff]*---[^\S\n]*\n/.exec(unix)
  if (start === null) return []
  const rest = unix.slice(start[0].length)
  const ends = [rest.search(/^---/m), rest.indexOf('---')].filter((end) => end >= 0)
  return [...new Set(ends.map((end) => rest.slice(0, end)))]
}

/** Keys of a head by which something is started, or loaded that may start something. */
const decisive = ['hooks', 'mcpServers', 'shell', 'isolation', 'memory', 'permissionMode', 'skills', 'agent']

function contradicts(value: unknown, isHarmless: boolean, label: string | null): string | null {
  if (typeof value !== 'object' || value === null) return null
  const key = decisive.find((name) => Object.hasOwn(value, name) && hasSomething((value as Keys)[name]))
  if (isHarmless && key !== undefined) return `${key} in what is harmless`
  const name = (value as Keys).name
  return typeof name === 'string' && name !== (label ?? '') ? `the name ${JSON.stringify(name)}` : null
}

type Keys = { readonly [key: string]: unknown }
const hasSomething = (value: unknown): boolean =>
  value !== null && !(typeof value === 'string' && value.trim() === '') && !(Array.isArray(value) && value.length === 0)
