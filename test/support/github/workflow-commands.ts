import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

type Annotation = { readonly level: string; readonly file?: string; readonly title?: string; readonly text: string }

export type Heard = { log: string; annotations: Annotation[]; outputs: { [name: string]: string } }

/** What a runner obeys in the lines that a step prints, and what it shows of the rest. */
export async function listenTo(streams: readonly Readable[]): Promise<Heard> {
  const heard: Heard = { log: '', annotations: [], outputs: {} }
  let stopped: string | null = null
  const hear = (line: string): void => {
    const command = parseCommand(line)
    if (stopped !== null && command?.name === stopped) stopped = null
    else if (stopped !== null || command === null) heard.log += `${line}\n`
    else if (command.name === 'stop-commands') stopped = command.text
    else if (['error', 'warning', 'notice'].includes(command.name)) {
      const { file, title } = command.properties
      heard.annotations.push({
        level: command.name,
        ...(file === undefined ? {} : { file }),
        ...(title === undefined ? {} : { title }),
        text: command.text,
      })
    } else if (command.name === 'set-output') heard.outputs[command.properties.name ?? ''] = command.text
    else throw new Error(`the command ${command.name} is not supported`)
  }
  await Promise.all(
    streams.map(async (input) => {
      for await (const line of createInterface({ input })) hear(line)
    }),
  )
  return heard
}

type Command = {
  readonly name: string
  readonly properties: { readonly [name: string]: string }
  readonly text: string
}

/** `::name a=b,c=d::text` at the start of a line, and the older `##[name a=b;c=d]text` anywhere in one. */
function parseCommand(line: string): Command | null {
  const found = read(/^\s*::([\w-]+)(?: ([^:]*))?::(.*)$/s, ',') ?? read(/##\[([\w-]+)(?: ([^\]]*))?\](.*)$/s, ';')
  return found ?? null

  function read(pattern: RegExp, between: string): Command | undefined {
    const [, name, rest = '', text = ''] = pattern.exec(line) ?? []
    if (name === undefined) return undefined
    const properties = rest.split(between).flatMap((pair) => {
      const [, key, value = ''] = /^([^=]+)=(.*)$/s.exec(pair) ?? []
      return key === undefined ? [] : [[key, decode(value)] as const]
    })
    return { name, properties: Object.fromEntries(properties), text: decode(text) }
  }
}

const decode = (text: string): string =>
  text
    .replaceAll('%0D', '\r')
    .replaceAll('%0A', '\n')
    .replaceAll('%3A', ':')
    .replaceAll('%2C', ',')
    .replaceAll('%25', '%')
