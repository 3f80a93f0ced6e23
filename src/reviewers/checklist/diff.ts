import { changedLines, parseDiff } from '../../text/diff.ts'
import { atLine, type ChecklistFinding, finding, limitFindings } from './plan.ts'

type NumberedLine = { readonly number: number; readonly raw: string }

export function checkDiff(diff: string): readonly ChecklistFinding[] {
  const fix = 'Check which commits or files were meant to be reviewed.'
  if (diff.trim() === '')
    return [finding('major', 'Diff', 'There is no change to review.', 'The diff is empty from line 1 on.', fix)]
  const files = addedLines(diff)
  return leftovers.flatMap(({ severity, files: names, pattern, isCode, problem, fix }) => {
    const found = files
      .filter(({ path }) => names.test(path))
      .flatMap(({ path, added }) =>
        added
          .filter(({ raw }) => raw.length <= maxLineLength && isHit(raw, pattern, isCode))
          .map((line) =>
            finding(
              severity,
              path === '' ? `line ${line.number}` : `${path}:${line.number}`,
              problem,
              atLine(line),
              fix,
            ),
          ),
      )
    return limitFindings(
      found,
      8,
      (count) => `In ${count} more places: ${problem}`,
      ({ section }) => section,
    )
  })
}

/** A text that is no diff counts as one file that is all new. */
export function addedLines(
  text: string,
): readonly { readonly path: string; readonly added: readonly NumberedLine[] }[] {
  const diff = parseDiff(text)
  if (diff === null) return [{ path: '', added: text.split(/\r?\n/).map((raw, at) => ({ number: at + 1, raw })) }]
  return diff.files.map((file) => ({
    path: file.path,
    added: [...changedLines(text, file)].flatMap(({ sign, number, text: raw }) =>
      sign === '+' ? { number, raw } : [],
    ),
  }))
}

/** Longer ones are generated code. */
const maxLineLength = 2_000

/** Code stands neither in a string nor in a comment. */
function isHit(raw: string, pattern: RegExp, isCode: boolean): boolean {
  const match = pattern.exec(raw)
  if (match === null || !isCode) return match !== null
  const before = raw.slice(0, match.index)
  const isInString = ["'", '"', '`'].some((mark) => before.split(mark).length % 2 === 0)
  return !isInString && !/\/\/|\/\*|^\s*\*|(?:^|\s)#|<!--|(?:^|\s)--(?:\s|$)/.test(before)
}

const script = /\.(?:[cm]?[jt]sx?|vue|svelte)$|^$/
const debuggerLeft = {
  severity: 'major',
  isCode: true,
  problem: 'A call of the debugger stops the program here.',
  fix: 'Take it out.',
} as const

const leftovers = [
  {
    severity: 'critical',
    files: /^/,
    isCode: false,
    pattern: /^(?:<{7}|>{7}|\|{7})(?: |$)/,
    problem: 'A merge conflict is left in the file.',
    fix: 'Resolve the conflict and remove its markers.',
  },
  { ...debuggerLeft, files: script, pattern: /^\s*debugger\s*;?\s*$/ },
  { ...debuggerLeft, files: /\.py$|^$/, pattern: /^\s*(?:breakpoint\(\)|(?:import|from) i?pdb\b|i?pdb\.set_trace\()/ },
  { ...debuggerLeft, files: /\.(?:rb|erb|rake)$/, pattern: /^\s*(?:binding\.(?:pry|irb|b)\b|byebug\b|debugger\b)/ },
  {
    severity: 'major',
    files: script,
    isCode: true,
    pattern:
      /\b(?:describe|it|test|suite|context|specify|bench)(?:\.\w+){0,3}\.only\b|(?:^|[\s;{])(?:fit|fdescribe)\s*\(/,
    problem: 'Only this test runs; all others in the file are passed over.',
    fix: 'Take the focus out, so that the whole file runs.',
  },
] as const
