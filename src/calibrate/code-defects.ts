import { diffLines, unifiedDiff } from '../text/diff.ts'
import type { ControlName, Defect, DefectClass } from './cases.ts'
import type { Random } from './statistics.ts'

/** One defect in a change to code, on lines that the change adds; for TypeScript and what looks like it, and for Python. */

/** null: there was no such file before. */
export type ChangedFile = { readonly path: string; readonly before: string | null; readonly after: string }

export type CodeMutant = { readonly files: readonly ChangedFile[]; readonly defect: Defect }

export const diffOf = (files: readonly ChangedFile[]): string =>
  files
    .map(({ path, before, after }) => {
      const names = { before: before === null ? '/dev/null' : `a/${path}`, after: `b/${path}` }
      const hunks = unifiedDiff(before ?? '', after, { context: 3, maxLines: 100_000, names })
      return hunks === ''
        ? ''
        : `diff --git a/${path} b/${path}\n${before === null ? 'new file mode 100644\n' : ''}${hunks}`
    })
    .join('')

type AddedLine = { readonly file: ChangedFile; readonly number: number; readonly text: string }

const addedLines = (files: readonly ChangedFile[]): readonly AddedLine[] =>
  files.flatMap((file) =>
    diffLines(file.before ?? '', file.after).flatMap(({ after, added }) =>
      added.map((text, n) => ({ file, number: after + n, text: text.replace(/\r?\n$/, '') })),
    ),
  )

const isTest = (path: string): boolean =>
  /(?:^|\/)(?:tests?|specs?|__tests__)\/|[._-](?:test|spec)\.\w+$|(?:^|\/)test_\w+\.py$/.test(path)

/** Whole lines of a file as it is now, from the first to the last of them, and what stands there instead. */
type Edit = {
  readonly file: ChangedFile
  readonly from: number
  readonly to: number
  readonly lines: readonly string[]
  readonly was: string
}

/** null: the change has no line for a defect of this class. */
export function seedCodeDefect(files: readonly ChangedFile[], name: DefectClass, random: Random): CodeMutant | null {
  const row = codeDefects.find((each) => each.name === name)
  if (row === undefined) return null
  const ofTests = name === 'tests-removed'
  const places = files.filter(({ path }) => isTest(path) === ofTests).flatMap((file) => editsOf(file, row.rules))
  const edit = places[random.below(places.length)]
  if (edit === undefined) return null
  const { file, from, to } = edit
  const lines = file.after.split('\n')
  const edited = [...lines.slice(0, from - 1), ...edit.lines, ...lines.slice(to)].join('\n')
  const after = ofTests ? withoutUnusedImports(edited) : edited
  const isGone = ofTests && after.trim() === ''
  return {
    files: files.flatMap((each) => (each !== file ? [each] : isGone ? [] : [{ ...file, after }])),
    defect: {
      class: name,
      section: file.path,
      sections: [file.path],
      file: file.path,
      lines: edit.lines.length > 0 ? edit.lines.map((_, n) => from + n) : [from - 1, from].filter((n) => n > 0),
      why: row.why,
      was: edit.was,
      is: edit.lines.join('\n').trim(),
    },
  }
}

/** On added lines; of one line, the first rule that changes it counts. */
function editsOf(file: ChangedFile, rules: readonly Rule[]): readonly Edit[] {
  const added = new Set(addedLines([file]).map(({ number }) => number))
  const lines = file.after.split('\n')
  const edits = new Map<number, Edit>()
  for (const { find, to = null, isMeant = () => true } of rules)
    for (const match of file.after.matchAll(new RegExp(find, 'gm'))) {
      const from = file.after.slice(0, match.index).split('\n').length
      const last = from + match[0].split('\n').length - 1
      const old = lines.slice(from - 1, last)
      const whole = old.join('\n')
      const put = typeof to === 'function' ? to(match) : to === null ? null : whole.replace(new RegExp(find, 'm'), to)
      const now = put === null ? [] : put.split('\n')
      const isFree = old.every((_, n) => added.has(from + n)) && !isComment(old[0] ?? '') && !edits.has(from)
      if (!isFree || !isMeant(match, whole) || now.join('\n') === whole) continue
      const was = match.groups?.was ?? whole
      edits.set(from, { file, from, to: last, lines: now, was: was.replace(/^[ \t]+|[ \t\r]+$/gm, '') })
    }
  return [...edits.values()].sort((one, other) => one.from - other.from)
}

/** What only a case that is gone has used; lines are not moved. */
const withoutUnusedImports = (text: string): string =>
  text.replace(/^import \{ ([\w, ]+) \} from .*$/gm, (line, names: string) => {
    const used = names.split(', ').filter((name) => (text.match(new RegExp(`\\b${name}\\b`, 'g'))?.length ?? 0) > 1)
    return used.length === 0 ? line : line.replace(names, used.join(', '))
  })

const isComment = (text: string): boolean => /^\s*(?:\/\/|\/?\*|#)/.test(text)

const isAbsence = (condition: string): boolean =>
  /(?:(?<![!=])={2,3} (?:null|undefined|''|None)|^!\w[\w.]*$|\.length === 0|\bis (?:not )?None|^not \w[\w.]*$|\bnil\b)/.test(
    condition,
  )
const isRange = (condition: string): boolean =>
  /\.test\(|Number\.is|[<>]=? ?-?[\w.]+|\bre\.(?:match|fullmatch)\(|isinstance\(/.test(condition)

type Rule = {
  /** Over the text of the file, where `^` and `$` are the ends of a line; a group `was` is what the defect takes away. */
  readonly find: RegExp
  /** Absent: the lines are taken out. */
  readonly to?: string | ((match: RegExpExecArray) => string)
  readonly isMeant?: (match: RegExpExecArray, lines: string) => boolean
}

type Row = { readonly name: DefectClass; readonly why: string; readonly rules: readonly Rule[] }

const rewriting = (...rules: readonly (readonly [RegExp, string])[]): readonly Rule[] =>
  rules.map(([find, to]) => ({ find, to }))

/** A guard on one line, or one with its body on the next line. */
const guards = (isMeant: (condition: string) => boolean): readonly Rule[] =>
  [
    /^[ \t]*if \((.+)\) (?:return|throw|continue|break)\b.*$/,
    /^[ \t]*if (?!\()(.+):[ \t]*\n[ \t]*(?:return|raise|continue)\b.*$/,
  ].map((find) => ({ find, isMeant: ([, condition = '']) => isMeant(condition) }))

const closing =
  '(?=.*(?:\\b(?:close|release|unlock|dispose|end|destroy|clearTimeout|clearInterval|rm|unlink)\\(.*\\)|_unlock\\())'
const closes = new RegExp(`^${closing}[ \\t]*(?:await )?[\\w.]+\\(.*\\);?$`)

/** `try { … }` alone is no program. */
const followsCatch = ({ index, input }: RegExpExecArray): boolean =>
  /\bcatch\b/.test([...input.slice(0, index).matchAll(/^.*\b(?:catch|try)\b.*$/gm)].at(-1)?.[0] ?? '')

/** What the function answers where it went well. */
const succeeded = ({ index, input }: RegExpExecArray): string =>
  [...input.slice(0, index).matchAll(/return .*?kind: '(\w+)'/g)]
    .map(([, kind = '']) => kind)
    .findLast((kind) => !/unknown|failed|error|invalid|declined|not/.test(kind)) ?? 'done'

const codeDefects: readonly Row[] = [
  {
    name: 'await-dropped',
    why: 'Nothing waits for the call any more, and its failure is lost.',
    rules: rewriting([/(?<!for )\bawait (?=[\w.]+\()/, '']),
  },
  {
    name: 'condition-negated',
    why: 'The condition is the opposite of what is meant.',
    rules: rewriting(
      [/(?<=\bif \(.*)!==/, '==='],
      [/(?<=\bif \(.*)===/, '!=='],
      [/\bif \(!(?=[\w.]+\))/, 'if ('],
      [/\bif \((?=[a-z][\w.]*\))/, 'if (!'],
      [/\bif not (?=\w)/, 'if '],
      [/(?<=^\s*(?:el)?if .*)==(?!=)/, '!='],
    ),
  },
  {
    name: 'bound-off-by-one',
    why: 'The bound is off by one.',
    rules: rewriting(
      [/(?<=[\w)\]]) <= (?=[\w(])/, ' < '],
      [/(?<=[\w)\]]) >= (?=[\w(])/, ' > '],
      [/(?<=[\w)\]]) < (?=[\w(])/, ' <= '],
      [/(?<=[\w)\]]) > (?=[\w(])/, ' >= '],
    ),
  },
  { name: 'check-removed', why: 'What may be missing is used without a check.', rules: guards(isAbsence) },
  {
    name: 'error-swallowed',
    why: 'The failure is not passed on, so the caller takes it for a success.',
    rules: [
      { find: /(?<=\b(?:catch|except)\b.*\n(?:.*\n){0,3})^[ \t]*throw \w+;?$/ },
      { find: /^([ \t]*)raise[ \t]*$/, to: '$1pass' },
      {
        find: /(?<=\b(?:catch|except)\b.*\n(?:.*\n){0,3})^([ \t]*)return \{ kind: '(?:unknown|failed|error|invalid)'.*$/,
        to: (match) => `${match[1]}return { kind: '${succeeded(match)}' }`,
      },
    ],
  },
  {
    name: 'tests-removed',
    why: 'No test covers this behaviour any more.',
    // Whole cases, with the empty line behind or before them.
    rules: [
      { find: /^([ \t]*)(?:it|test)(?:\.each)?\(.*(?:\n(?!\1\}\)).*)*\n\1\}\).*\n[ \t]*(?=\n)/ },
      { find: /(?:^[ \t]*\n)?^([ \t]*)(?:it|test)(?:\.each)?\(.*(?:\n(?!\1\}\)).*)*\n\1\}\).*$(?!\n[ \t]*\n)/ },
      { find: /(?:^[ \t]*\n)?^([ \t]*)(?:async )?def test_\w+.*(?:\n(?:\1[ \t].*|[ \t]*(?=\n)))*$/ },
    ],
  },
  {
    name: 'arguments-swapped',
    why: 'Two arguments are in the wrong order.',
    rules: [
      {
        find: /(?<!function |def |=> )\b((?!function|def|if|for|while|switch|catch|return\b)[\w.]+)\((\w+), (\w+)(?=[,)])/,
        to: '$1($3, $2',
        isMeant: (_, line) => !/\b(?:function|def)\b|=>\s*$|^\s*\w+\([^)]*\)\s*\{/.test(line),
      },
    ],
  },
  {
    name: 'validation-dropped',
    why: 'A value from outside is used without being checked.',
    rules: guards((condition) => isRange(condition) && !isAbsence(condition)),
  },
  {
    name: 'resource-left-open',
    why: 'What was opened, or set to run, is never closed.',
    rules: [
      {
        find: new RegExp(`^([ \\t]*).*\\bfinally\\b.*\\n(?<was>${closing}.*)\\n[ \\t]*\\}[ \\t]*$`),
        to: '$1}',
        isMeant: followsCatch,
      },
      {
        find: new RegExp(`(?<=\\bfinally\\b.*\\n)^${closing}.*$(?=\\n[ \\t]*\\}[ \\t]*$)`),
        isMeant: (match) => !followsCatch(match),
      },
      { find: new RegExp(`(?<!\\bfinally\\b.*\\n)${closes.source}`) },
    ],
  },
]

export function makeCodeControl(files: readonly ChangedFile[], name: ControlName): readonly ChangedFile[] | null {
  switch (name) {
    case 'unchanged':
      return files
    case 'paraphrased':
      return renameLocal(files)
    case 'edited':
      return rewordComment(files)
  }
}

/** A constant of one function, that no other line of the file could mean. */
function renameLocal(files: readonly ChangedFile[]): readonly ChangedFile[] | null {
  for (const { file, text } of addedLines(files)) {
    const name = /^\s{2,}(?:const|let) ([a-z][a-zA-Z]{3,}) = /.exec(text)?.[1]
    if (name === undefined || isTest(file.path)) continue
    const uses = file.after.match(new RegExp(`(?<![\\w$.:'"-])${name}(?![\\w$:'"-])`, 'g'))?.length ?? 0
    const all = file.after.match(new RegExp(`\\b${name}\\b`, 'g'))?.length ?? 0
    const declared = file.after.match(new RegExp(`(?:const|let) ${name}\\b|[{(,] *${name} *[,:})]`, 'g'))?.length ?? 0
    const other = `local${name[0]?.toUpperCase()}${name.slice(1)}`
    if (uses !== all || declared > 1 || file.after.includes(other)) continue
    const after = file.after.replace(new RegExp(`\\b${name}\\b`, 'g'), other)
    return files.map((each) => (each === file ? { ...each, after } : each))
  }
  return null
}

function rewordComment(files: readonly ChangedFile[]): readonly ChangedFile[] | null {
  for (const line of addedLines(files)) {
    const now = line.text.replace(/^(\s*(?:\/\*\*|\/\/|#) )(?!Note: )(?=[A-Z]\w+ )/, '$1Note: ')
    if (now === line.text || /^#!/.test(line.text)) continue
    const lines = line.file.after.split('\n')
    lines[line.number - 1] = now
    return files.map((each) => (each === line.file ? { ...each, after: lines.join('\n') } : each))
  }
  return null
}
