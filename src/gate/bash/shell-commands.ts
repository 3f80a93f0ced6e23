import { type Call, type CommandRow, type Flags, hasFlag, type Problem, row } from './row.ts'

/** Built-in commands of the shell, and what tells about the system. */
const about: Flags = { plain: '--help --version' }
const version: Flags = { plain: '--version' }

const problem = (part: string, why: string, hint: string): Problem => ({ rule: 'operand', part, why, hint })

/** `-v` evaluates a subscript, and some shells what is compared as numbers. */
function checkTest({ name, operands, flags }: Call): Problem | undefined {
  const values = name === '[' ? operands.slice(0, -1) : operands
  if (name === '[' && operands.at(-1) !== ']') return problem('[', 'has no ] at its end', 'Close it.')
  const isNumeric = flags.some(({ name: flag }) => /^-(?:eq|ne|[gl][te])$/.test(flag))
  const allowed = isNumeric ? /^(?:\d+|!)$/ : /^(?:[\w./@%+,: -]*|!?=|==|!)$/
  const odd = values.find((value) => !allowed.test(value))
  return odd === undefined
    ? undefined
    : problem(odd, 'is more than a plain value to test', 'Compare plain words, and numbers with numbers.')
}

const testFlags: Flags = { plain: '-a -d -e -ef -eq -f -ge -gt -h -L -le -lt -n -ne -nt -o -ot -r -s -S -w -x -z' }

/** Each operand has to look like this. */
const only =
  (pattern: RegExp, why: string, hint: string) =>
  ({ operands }: Call): Problem | undefined => {
    const odd = operands.find((operand) => !pattern.test(operand))
    return odd === undefined ? undefined : problem(odd, why, hint)
  }

/** zsh evaluates what is printed as a number. */
function checkPrintf({ operands }: Call): Problem | undefined {
  const [format = ''] = operands
  return /^(?:[^%]|%%|%-?\d{0,3}s)*$/.test(format)
    ? undefined
    : problem(format, 'is a format with more than %s', 'Use %s, or echo.')
}

function checkPs({ operands, flags }: Call): Problem | undefined {
  const odd =
    operands.find((operand) => !/^(?:[acfjlmrsTuvwx]+|\d+)$/.test(operand)) ??
    flags.find(({ value = '' }) => /env|[^\w,=%: .+-]/i.test(value))?.value
  return odd === undefined
    ? undefined
    : problem(odd, 'may print the environment of programs', 'Use ps aux, or ps -p <pid> -o pid,command.')
}

const needs =
  (flags: string, hint: string) =>
  (call: Call): Problem | undefined =>
    hasFlag(call, flags) ? undefined : problem(call.name, `without ${flags} runs a program`, hint)

/** `bash -n file` reads a script without running it, as long as nothing turns -n off again. */
function checkSyntaxOnly(flag: string, mayBeMore: boolean) {
  return (call: Call): Problem | undefined => {
    const { flags, operands, name } = call
    if (operands.length === 0 && hasFlag(call, '--version -v') && flags.length === 1) return undefined
    const isFirst = flags.every(({ operandsBefore }) => operandsBefore === 0)
    const isPlain = operands.length > 0 && !operands.some((operand) => /^[-+]/.test(operand))
    return flags.length === 1 && hasFlag(call, flag) && isFirst && isPlain && (mayBeMore || operands.length === 1)
      ? undefined
      : problem(
          name,
          'would run a program',
          `Only ${name} ${flag.split(' ')[0]} <file> and ${name} --version are allowed.`,
        )
  }
}

const isoDates = ['', '=date', '=hours', '=minutes', '=seconds', '=ns']

export const shellCommands = [
  row('true', 'words'),
  row(':', 'words'),
  { ...row('test', 'words', testFlags), check: checkTest },
  { ...row('[', 'words', testFlags), check: checkTest },
  { ...row('printf', 'words'), check: checkPrintf },
  { ...row('command', 'words', { plain: '-v -V' }), check: needs('-v -V', 'Use command -v <name>.') },
  row('type', 'words', { plain: '-a -p -P -t' }),
  {
    ...row('sleep', 'words', about),
    mostOperands: 1,
    check: only(/^\d{1,2}(?:\.\d+)?s?$/, 'is not a short time', 'Sleep for less than 100 seconds.'),
  },
  {
    ...row('seq', 'words', about, { plain: '-w', text: '-s' }),
    check: only(/^\d{1,4}$/, 'is not a small number', 'Count to 9999 at most.'),
  },
  {
    ...row('date', 'words', about, {
      plain: [
        '-u --utc --universal -R --rfc-email -I -Idate -Ihours -Iminutes -Iseconds',
        ...isoDates.map((unit) => `--iso-8601${unit}`),
        '--rfc-3339=date --rfc-3339=seconds',
      ].join(' '),
      text: '-d --date',
      file: '-r --reference',
    }),
    mostOperands: 1,
    check: only(/^\+/, 'would set the clock', 'Begin a format with +.'),
  },
  row('uname', 'none', about, { plain: '-a -i -m -n -o -p -r -s -v --all' }),
  row('whoami', 'none', about),
  row('id', 'words', about, { plain: '-g -G -n -r -u' }),
  {
    ...row('ps', 'words', about, {
      plain: '-a -A -c -d -e -f -F -H -j -l -L -T -w -x --forest --no-headers',
      text: '-C -G -o -p -t -u -U --format --pid --ppid --sort --user',
    }),
    check: checkPs,
  },
  { ...row('bash', 'files', { plain: '-n' }, version), check: checkSyntaxOnly('-n', true) },
  { ...row('sh', 'files', { plain: '-n' }), check: checkSyntaxOnly('-n', true) },
  { ...row('node', 'files', { plain: '-v -c --check' }, version), check: checkSyntaxOnly('--check -c', false) },
] satisfies readonly CommandRow[]
