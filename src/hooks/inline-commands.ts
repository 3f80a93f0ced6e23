import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { House } from '../gate/place-of.ts'
import { isAbsence, isPassing, systemFailure } from '../system/system-failure.ts'
import { readThroughLinks } from './read-through-links.ts'

const mostFiles = 500

/**
 * The commands in a skill's (or a custom command's) text, and the hooks that it would set. Skills go by the name of
 * their folder or by a label, commands by their file, so every text is looked at that could be meant. What is in none
 * of the folders comes with Claude Code or with a plugin that the user has installed.
 */
export function inlineCommands(house: House, name: string): string[] {
  const wanted = lastPart(name)
  if (wanted === '') return []
  const folders = [
    join(house.root.named, '.claude'),
    ...house.mergedRoots.map((root) => join(root, '.claude')),
    ...house.userDirs,
  ]
  return folders
    .flatMap((folder) => [...textsIn(join(folder, 'skills')), ...textsIn(join(folder, 'commands'))])
    .filter(({ names, text }) => [...names, labelOf(text)].some((known) => lastPart(known) === wanted))
    .flatMap(({ text }) => [...commandsIn(text), ...hooksIn(text)])
}

const lastPart = (name: string): string => (name.split(/[:/]/).at(-1) ?? '').trim().toLowerCase()

type Text = { names: string[]; text: string }

function textsIn(folder: string): Text[] {
  return markdownBelow(folder).map((path) => {
    const read = readThroughLinks(join(folder, path))
    const names = path.split('/').flatMap((part) => [part, basename(part, '.md')])
    if (read.kind !== 'refused') return { names, text: read.kind === 'read' ? read.bytes.toString('utf8') : '' }
    // What it is called is not known then either.
    if (isPassing(read.errno)) throw new Error(`a skill cannot be read: ${read.why}`)
    return { names, text: `!\`(${read.why})\`` }
  })
}

function markdownBelow(folder: string): string[] {
  try {
    const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => path.replaceAll('\\', '/'))
    return paths.filter((path) => path.toLowerCase().endsWith('.md')).slice(0, mostFiles)
  } catch (error) {
    if (isAbsence(systemFailure(error))) return []
    throw error
  }
}

const frontmatterOf = (text: string): string => /^\ufeff?---\r?\n([\s\S]*?)\r?\n---/.exec(text)?.[1] ?? ''
const labelOf = (text: string): string => /^name:[ \t]*["']?(.*?)["']?[ \t]*$/m.exec(frontmatterOf(text))?.[1] ?? ''

/** Hooks in the head of a skill run commands of their own. */
const hooksIn = (text: string): string[] =>
  /^hooks[ \t]*:/m.test(frontmatterOf(text)) ? ['(hooks in its frontmatter)'] : []

/** `!` before a code span, or after the fence of a code block. */
const commandsIn = (text: string): string[] =>
  [...text.matchAll(/!`([^`]+)`|^[ \t>*-]*```+[ \t]*!.*\n([\s\S]*?)^[ \t>]*```/gm)].map(([, span, block]) =>
    (span ?? block ?? '').trim(),
  )
