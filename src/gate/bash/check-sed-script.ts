import { type Call, hasFlag, type Problem } from './command-row.ts'

/** Text up to a delimiter. A backslash never stands right before one, so that every sed sees it end there. */
const upTo = (delimiter: string): string => String.raw`(?:[^\\${delimiter}\n;]|\\[^${delimiter}\n;])*`
const address = String.raw`(?:\d+|\$|/${upTo('/')}/)`
const substitutions = ['/', '|', '#', ',', ':', '@', '%'].map((delimiter) => {
  const mark = `[${delimiter}]`
  return String.raw`s${mark}${upTo(delimiter)}${mark}${upTo(delimiter)}${mark}[gpI\d]*`
})
const command = new RegExp(
  String.raw`^[ \t]*(?:${address}(?:,\+?${address})?[ \t]*(?:![ \t]*)?)?(?:[pdq=]|${substitutions.join('|')})[ \t]*$`,
)

/**
 * sed can write (w), read (r) and run (e) files, and s/…/…/e runs what it has made. Each command of the script
 * therefore has to be a whole `p`, `d`, `q`, `=` or `s` with flags that only choose.
 */
export function checkSedScript(call: Call): Problem | undefined {
  const given = call.flags.flatMap(({ name, value }) => (/^(-e|--expression)$/.test(name) ? [value ?? ''] : []))
  const scripts = given.length > 0 ? given : call.operands.slice(0, 1)
  // sed opens what a script writes as soon as it has read it: a --help behind it comes too late.
  if (scripts.length === 0 && hasFlag(call, '--help --version')) return undefined
  const unknown = scripts.flatMap((script) => script.split(';')).find((one) => !command.test(one))
  if (unknown === undefined && scripts.length > 0) return undefined
  return {
    rule: 'program',
    part: unknown ?? 'sed',
    why: 'is no sed command that the gate can prove to only print',
    instead: "Use sed -n '10,20p' <file>, s/…/…/g without flags such as w or e, or the Read tool.",
  }
}
