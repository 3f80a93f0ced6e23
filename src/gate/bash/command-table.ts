import type { CommandRow } from './command-row.ts'
import { fileCommands } from './file-commands.ts'
import { gitCommands } from './git-commands.ts'
import { gitMoreCommands } from './git-more-commands.ts'
import { gitPlumbingCommands } from './git-plumbing-commands.ts'
import { searchCommands } from './search-commands.ts'
import { streamCommands } from './stream-commands.ts'
import { textCommands } from './text-commands.ts'

const byName = (...tables: readonly (readonly CommandRow[])[]): ReadonlyMap<string, CommandRow> =>
  new Map(tables.flat().map((row) => [row.name, row]))

export const commands = byName(searchCommands, fileCommands, textCommands, streamCommands)
export const gitSubcommands = byName(gitCommands, gitMoreCommands, gitPlumbingCommands)
