import { checkConfig } from './check-config.ts'
import { configSchema, type EffectiveConfig } from './config.ts'
import { doubtfulIn } from './doubtful.ts'
import { fillDefaults } from './fill-defaults.ts'
import { byPlace, type Finding } from './located.ts'
import { readYaml } from './read-yaml.ts'
import { replaceOlderNames } from './replace-older-names.ts'

export type ConfigProblem = { line: number; column: number; path: string; message: string; hint?: string }
export type ParsedConfig =
  | { kind: 'valid'; config: EffectiveConfig; notices: readonly string[] }
  | { kind: 'invalid'; problems: readonly ConfigProblem[] }

const maxBytes = 256 * 1024
const maxProblems = 50

/** `plan-gate.yaml` as a whole configuration, or all that is wrong with it in the order of the file. */
export function parseConfig(text: string): ParsedConfig {
  if (Buffer.byteLength(text) > maxBytes) {
    const message = `The file is larger than ${maxBytes / 1024} KiB; it was not read.`
    return { kind: 'invalid', problems: [{ line: 1, column: 1, path: '', message }] }
  }
  // No editor counts a byte order mark as a column.
  const source = text.replace(/^\ufeff/, '')
  const { root, syntax, findings, lines } = readYaml(source)
  const inLines = ({ at, ...finding }: Finding): ConfigProblem => {
    const { line, col } = lines.linePos(at[0])
    return { line, column: col, ...finding }
  }

  const isDoubtful = doubtfulIn(
    source,
    syntax.map(({ at }) => at),
  )
  const renaming = replaceOlderNames(root)
  const early = [...findings, ...renaming.findings].filter(({ at }) => !isDoubtful(at))
  const told = new Set(early.map(({ at }) => at[0]))
  const checked = checkConfig(renaming.root, (place) => !isDoubtful(place) && !told.has(place[0]), maxProblems + 1)
  const late = checked.kind === 'invalid' ? checked.findings : []
  const problems = [...syntax, ...early, ...late].sort(byPlace).map(inLines)
  if (checked.kind === 'valid' && problems.length === 0) {
    const notices = renaming.notices.map(inLines).map(({ line, message, hint }) => `Line ${line}: ${message} ${hint}`)
    return { kind: 'valid', config: fillDefaults(configSchema, checked.config), notices }
  }
  return { kind: 'invalid', problems: shortened(problems) }
}

function shortened(problems: readonly ConfigProblem[]): readonly ConfigProblem[] {
  const next = problems[maxProblems]
  if (!next) return problems
  const more = {
    line: next.line,
    column: next.column,
    path: '',
    message: 'There is more from here on; mend the above first.',
  }
  return [...problems.slice(0, maxProblems), more]
}
