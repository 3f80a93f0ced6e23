import { join } from 'node:path'
import type { House } from '../gate/place-of.ts'
import { readThroughLinks } from './read-through-links.ts'

/**
 * The commands in a skill's (or a custom command's) text. It is looked for where Claude Code looks: in this worktree,
 * in the main checkout and in the user's own folder. What is in none of them comes with Claude Code or a plugin that
 * the user has installed.
 */
export function inlineCommands(house: House, name: string): string[] {
  if (!/^[\p{L}\p{N}_.:-]+$/u.test(name) || name.includes('..')) return []
  const asPath = name.replaceAll(':', '/')
  const folders = [
    join(house.root.named, '.claude'),
    ...house.mergedRoots.map((root) => join(root, '.claude')),
    ...house.userDirs,
  ]
  return folders
    .flatMap((folder) =>
      [`skills/${asPath}/SKILL.md`, `commands/${asPath}.md`].map((path) => readThroughLinks(join(folder, path))),
    )
    .flatMap((read) => (read.kind === 'read' ? commandsIn(read.bytes.toString('utf8')) : []))
}

/** `!` before a code span, or after the fence of a code block. */
const commandsIn = (text: string): string[] =>
  [...text.matchAll(/!`([^`]+)`|^ {0,3}```+!.*\n([\s\S]*?)^ {0,3}```/gm)].map(([, span, block]) =>
    (span ?? block ?? '').trim(),
  )
