import type { Call, Problem } from './command-row.ts'

/**
 * What a filter can say beyond its input: the environment, other files, modules. `.env`, `."env"` and `$env` are
 * fields and variables of its own; a `$` and a name may stand apart, so `ENV` is refused wherever it is no field.
 */
const reaches = /(?<![.\w"])(?<!\$)(env|import|include|input_filename|modulemeta|get_search_list)\b|(?<![.\w"])ENV\b/
const neverEnds = /(?<![.\w"$])(repeat|until|while|infinite|def)\b/

export function checkJqProgram({ operands, isPiped }: Call): Problem | undefined {
  const [program = '', file] = operands
  if (file === undefined && !isPiped && /\binputs?\b/.test(program))
    return {
      rule: 'stdin',
      part: program,
      why: 'reads an input, and there is no file',
      instead: 'Name a file behind the filter.',
    }
  const word = (reaches.exec(program) ?? neverEnds.exec(program))?.[0]
  if (word === undefined) return undefined
  return {
    rule: 'program',
    part: word,
    why: reaches.test(program) ? 'lets a jq filter reach beyond its input' : 'can make a jq filter run without an end',
    instead: 'Write the filter with paths, select, map and the like; a field of that name is `."…"`.',
  }
}
