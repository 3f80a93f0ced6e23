import { refuse } from './refusal.ts'
import { about, type Call, type CommandRow, type Flags, hasFlag, row } from './row.ts'

/** Built-in commands of the shell, and what tells about the system. */
const version: Flags = { plain: '--version' }

/** `-v` evaluates a subscript, and some shells what is compared as numbers. */
function checkTest({ name, operands, flags }: Call): void {
  const values = name === '[' ? operands.slice(0, -1) : operands
  if (name === '[' && operands.at(-1) !== ']') refuse('operand', '[', 'has no ] at its end', 'Close it.')
  const isNumeric = flags.some(({ name: flag }) => /^-(?:eq|ne|[gl][te])$/.test(flag))
  const allowed = isNumeric ? /^(?:\d+|!)$/ : /^(?:[\w./@%+,: -]*|!?=|==|!)$/
  refuseOdd(values, allowed, 'is more than a plain value to test', 'Compare plain words, and numbers with numbers.')
}

const testFlags: Flags = { plain: '-a -d -e -ef -eq -f -ge -gt -h -L -le -lt -n -ne -nt -o -ot -r -s -S -w -x -z' }

function refuseOdd(values: readonly string[], allowed: RegExp, why: string, hint: string): void {
  const odd = values.find((value) => !allowed.test(value))
  if (odd !== undefined) refuse('operand', odd, why, hint)
}

/** Each operand has to look like this. */
const only =
  (pattern: RegExp, why: string, hint: string) =>
  ({ operands }: Call): void =>
    refuseOdd(operands, pattern, why, hint)

/** zsh evaluates what is printed as a number. */
const checkPrintf = ({ operands: [format = ''] }: Call): void =>
  refuseOdd([format], /^(?:[^%]|%%|%-?\d{0,3}s)*$/, 'is a format with more than %s', 'Use %s, or echo.')

function checkPs({ operands, flags }: Call): void {
  const [why, hint] = ['may print the environment of programs', 'Use ps aux, or ps -p <pid> -o pid,command.']
  refuseOdd(operands, /^(?:[acfjlmrsTuvwx]+|\d+)$/, why, hint)
  const values = flags.map(({ value = '' }) => value)
  refuseOdd(values, /^(?!.*env)[\w,=%: .+-]*$/i, why, hint)
}

function checkCommandName(call: Call): void {
  if (!hasFlag(call, '-v -V')) refuse('operand', call.name, 'without -v -V runs a program', 'Use command -v <name>.')
}

/** `bash -n file` reads a script without running it, as long as nothing turns -n off again. */
const checkSyntaxOnly = (flag: string, mayBeMore: boolean) => (call: Call) => {
  const { flags, operands, name } = call
  if (operands.length === 0 && hasFlag(call, '--version -v') && flags.length === 1) return
  const isFirst = flags.every(({ operandsBefore }) => operandsBefore === 0)
  const isPlain = operands.length > 0 && !operands.some((operand) => /^[-+]/.test(operand))
  const isOnly = flags.length === 1 && hasFlag(call, flag) && isFirst && isPlain
  const hint = `Only ${name} ${flag.split(' ')[0]} <file> and ${name} --version are allowed.`
  if (!isOnly || (!mayBeMore && operands.length > 1)) refuse('operand', name, 'would run a program', hint)
}

const isoDates = ['', '=date', '=hours', '=minutes', '=seconds', '=ns']

export const shellCommands = [
  row('true', 'words'),
  row(':', 'words'),
  { ...row('test', 'words', testFlags), check: checkTest },
  { ...row('[', 'words', testFlags), check: checkTest },
  { ...row('printf', 'words'), check: checkPrintf },
  { ...row('command', 'words', { plain: '-v -V' }), check: checkCommandName },
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
