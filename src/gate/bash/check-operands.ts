import { checkFile } from './check-file.ts'
import { type Call, type CommandRow, hasFlag } from './command-row.ts'
import { type Refusal, refuse } from './refusal.ts'

export function checkOperands(call: Call, row: CommandRow): Refusal | undefined {
  const { operands, name } = call
  const most = row.operands === 'none' ? 0 : (row.mostOperands ?? Number.POSITIVE_INFINITY)
  if (operands.length > most)
    return refuse(
      'operand',
      operands[most] ?? '',
      most === 0 ? `is one argument too many: ${name} takes flags only` : `is one argument too many for ${name}`,
      most === 0 ? `Write ${name} without it.` : `Give ${name} one argument, and its flags before it.`,
    )
  if (row.needsPipe !== undefined && !call.isPiped && hasFlag(call, row.needsPipe))
    return waits(name, `Put it behind a |, or leave ${row.needsPipe} out.`)
  const takesProgram = row.firstIsProgram !== undefined && !hasFlag(call, row.firstIsProgram.unless)
  const rest = takesProgram ? operands.slice(1) : operands
  if (row.operands !== 'files') return undefined
  return checkFiles(rest, call) ?? checkOldSyntax(rest, row) ?? checkStdin(rest, call, row)
}

function checkFiles(files: readonly string[], { isPiped, name }: Call): Refusal | undefined {
  for (const file of files) {
    if (file === '-' && !isPiped)
      return refuse('stdin', '-', `makes ${name} wait for stdin`, 'Name a file, or put the command behind a |.')
    const refusal = file === '-' ? undefined : checkFile(file)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

/** `sort +1` and `uniq +1` take a number and no file; where the old syntax lives on, `tail +1f file` never ends. */
function checkOldSyntax(files: readonly string[], { readsStdin }: CommandRow): Refusal | undefined {
  const old = readsStdin === undefined ? undefined : files.find((file) => file.startsWith('+'))
  return old === undefined
    ? undefined
    : refuse(
        'operand',
        old,
        'is the old way to give a number',
        `Use flags such as -n or -k; a file of that name is ./${old}.`,
      )
}

/** Nobody types into the shell of a tool: a command that waits for stdin gets nothing, or never ends. */
function checkStdin(
  files: readonly string[],
  call: Call,
  { readsStdin, mayReadNothing }: CommandRow,
): Refusal | undefined {
  if (readsStdin === undefined || mayReadNothing === true || call.isPiped || files.length > 0) return undefined
  if (hasFlag(call, readsStdin.unless)) return undefined
  return waits(call.name, `Name a file: ${call.name} … <file>. Behind a | it needs none.`)
}

const waits = (name: string, instead: string): Refusal =>
  refuse('stdin', name, 'has nothing to read and would wait for stdin', instead)
