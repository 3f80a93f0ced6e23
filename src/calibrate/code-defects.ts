/** One defect in a change to code, on lines that the change adds; for TypeScript and what looks like it, and for Python. */
import { diffLines, unifiedDiff } from '../text/line-diff.ts'
import type { ControlName, Defect, DefectClass } from './defect.ts'
import type { Random } from './random.ts'

/** null: there was no such file before. */
export type ChangedFile = { readonly path: string; readonly before: string | null; readonly after: string }

export type CodeMutant = { readonly files: readonly ChangedFile[]; readonly defect: Defect }

/** As git prints it. */
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

function addedLines(files: readonly ChangedFile[]): readonly AddedLine[] {
  return files.flatMap((file) => {
    let shift = 0
    return diffLines(file.before ?? '', file.after).flatMap(({ before, removed, added }) => {
      const first = before + shift
      shift += added.length - removed.length
      return added.map((text, n) => ({ file, number: first + n, text: text.replace(/\r?\n$/, '') }))
    })
  })
}

const isTest = (path: string): boolean =>
  /(?:^|\/)(?:tests?|specs?|__tests__)\/|[._-](?:test|spec)\.\w+$|(?:^|\/)test_\w+\.py$/.test(path)

type Edit = {
  /** Of the file as it is now; both included. */
  readonly from: number
  readonly to: number
  readonly lines: readonly string[]
  readonly file: ChangedFile
  readonly was: string
}

/** null: the change has no line for a defect of this class. */
export function seedCodeDefect(files: readonly ChangedFile[], name: DefectClass, random: Random): CodeMutant | null {
  const row = codeDefects.find((each) => each.name === name)
  if (row === undefined) return null
  const added = addedLines(files)
  const places = row.find(
    row.inTests === true ? added : added.filter(({ file, text }) => !isTest(file.path) && !isComment(text)),
    files,
  )
  const edit = places[random.below(places.length)]
  if (edit === undefined) return null
  const lines = edit.file.after.split('\n')
  const edited = [...lines.slice(0, edit.from - 1), ...edit.lines, ...lines.slice(edit.to)].join('\n')
  const now = row.inTests === true ? withoutUnusedImports(edited) : edited
  const { path } = edit.file
  const at =
    edit.lines.length > 0 ? edit.lines.map((_, n) => edit.from + n) : [edit.from - 1, edit.from].filter((n) => n > 0)
  return {
    files:
      row.dropsFile === true && now.trim() === ''
        ? files.filter((file) => file !== edit.file)
        : files.map((file) => (file === edit.file ? { ...file, after: now } : file)),
    defect: {
      class: name,
      section: path,
      sections: [path],
      file: path,
      lines: at,
      why: row.why,
      was: edit.was,
      is: edit.lines.join('\n').trim(),
    },
  }
}

/** What only a case that is gone has used; lines are not moved. */
const withoutUnusedImports = (text: string): string =>
  text.replace(/^import \{ ([\w, ]+) \} from .*$/gm, (line, names: string) => {
    const used = names.split(', ').filter((name) => (text.match(new RegExp(`\\b${name}\\b`, 'g'))?.length ?? 0) > 1)
    return used.length === 0 ? line : line.replace(names, used.join(', '))
  })

const isComment = (text: string): boolean => /^\s*(?:\/\/|\/?\*|#)/.test(text)

const replaced = ({ file, number, text }: AddedLine, line: string): Edit => ({
  file,
  from: number,
  to: number,
  lines: [line],
  was: text.trim(),
})
const dropped = (lines: readonly AddedLine[]): readonly Edit[] => {
  const [first, last] = [lines[0], lines.at(-1)]
  if (first === undefined || last === undefined) return []
  return [
    {
      file: first.file,
      from: first.number,
      to: last.number,
      lines: [],
      was: lines.map(({ text }) => text.trim()).join('\n'),
    },
  ]
}

/** Each line that `pattern` matches, with what it is replaced by. */
const rewriting =
  (...rules: readonly (readonly [RegExp, string])[]) =>
  (added: readonly AddedLine[]): readonly Edit[] =>
    added.flatMap((line) => {
      const rule = rules.find(([pattern]) => pattern.test(line.text))
      const now = rule === undefined ? line.text : line.text.replace(rule[0], rule[1])
      return now === line.text ? [] : [replaced(line, now)]
    })

/** A guard on one line, or one with its body on the next line. */
const guards =
  (isMeant: (condition: string) => boolean) =>
  (added: readonly AddedLine[]): readonly Edit[] =>
    added.flatMap((line, at) => {
      const whole = /^\s*if \((.+)\) (?:return|throw|continue|break)\b.*$/.exec(line.text)
      if (whole !== null) return isMeant(whole[1] ?? '') ? dropped([line]) : []
      const python = /^(\s*)if (.+):\s*$/.exec(line.text)
      const next = added[at + 1]
      if (python === null || next === undefined || next.number !== line.number + 1) return []
      return isMeant(python[2] ?? '') && /^\s*(?:return|raise|continue)\b/.test(next.text) ? dropped([line, next]) : []
    })

const isAbsence = (condition: string): boolean =>
  /(?:(?<![!=])={2,3} (?:null|undefined|''|None)|^!\w[\w.]*$|\.length === 0|\bis (?:not )?None|^not \w[\w.]*$|\bnil\b)/.test(
    condition,
  )
const isRange = (condition: string): boolean =>
  /\.test\(|Number\.is|[<>]=? ?-?[\w.]+|\bre\.(?:match|fullmatch)\(|isinstance\(/.test(condition)

type Row = {
  readonly name: DefectClass
  readonly why: string
  readonly find: (added: readonly AddedLine[], files: readonly ChangedFile[]) => readonly Edit[]
  readonly inTests?: true
  readonly dropsFile?: true
}

const codeDefects: readonly Row[] = [
  {
    name: 'await-dropped',
    why: 'Nothing waits for the call any more, and its failure is lost.',
    find: rewriting([/(?<!for )\bawait (?=[\w.]+\()/, '']),
  },
  {
    name: 'condition-negated',
    why: 'The condition is the opposite of what is meant.',
    find: rewriting(
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
    find: rewriting(
      [/(?<=[\w)\]]) <= (?=[\w(])/, ' < '],
      [/(?<=[\w)\]]) >= (?=[\w(])/, ' > '],
      [/(?<=[\w)\]]) < (?=[\w(])/, ' <= '],
      [/(?<=[\w)\]]) > (?=[\w(])/, ' >= '],
    ),
  },
  { name: 'check-removed', why: 'What may be missing is used without a check.', find: guards(isAbsence) },
  {
    name: 'error-swallowed',
    why: 'The failure is not passed on, so the caller takes it for a success.',
    find: (added) =>
      added.flatMap((line, at) => {
        const before = added.slice(Math.max(0, at - 4), at).some(({ text }) => /\bcatch\b|^\s*except\b/.test(text))
        if (/^\s*throw \w+;?$/.test(line.text) && before) return dropped([line])
        if (/^\s*raise\s*$/.test(line.text)) return [replaced(line, line.text.replace('raise', 'pass'))]
        const returned = /^(\s*)return \{ kind: '(?:unknown|failed|error|invalid)'.*$/.exec(line.text)
        return returned !== null && before
          ? [
              replaced(
                line,
                line.text.replace(/kind: '\w+'.*$/, "kind: 'charged' }").replace('charged', succeeded(line)),
              ),
            ]
          : []
      }),
  },
  {
    name: 'tests-removed',
    why: 'No test covers this behaviour any more.',
    inTests: true,
    dropsFile: true,
    find: (added) => testCases(added.filter(({ file }) => isTest(file.path))),
  },
  {
    name: 'arguments-swapped',
    why: 'Two arguments are in the wrong order.',
    find: (added) =>
      rewriting([
        /(?<!function |def |=> )\b((?!function|def|if|for|while|switch|catch|return\b)[\w.]+)\((\w+), (\w+)(?=[,)])/,
        '$1($3, $2',
      ])(added.filter(({ text }) => !/\b(?:function|def)\b|=>\s*$|^\s*\w+\([^)]*\)\s*\{/.test(text))),
  },
  {
    name: 'validation-dropped',
    why: 'A value from outside is used without being checked.',
    find: guards((condition) => isRange(condition) && !isAbsence(condition)),
  },
  {
    name: 'resource-left-open',
    why: 'What was opened, or set to run, is never closed.',
    find: (added) =>
      added.flatMap((line, at) => {
        if (
          !/\b(?:close|release|unlock|dispose|end|destroy|clearTimeout|clearInterval|rm|unlink)\(.*\)|_unlock\(/.test(
            line.text,
          )
        )
          return []
        const [before, after] = [added[at - 1], added[at + 1]]
        const isAlone = /\bfinally\b/.test(before?.text ?? '') && /^\s*\}\s*$/.test(after?.text ?? '')
        if (!isAlone || before === undefined || after === undefined)
          return /^\s*(?:await )?[\w.]+\(.*\);?$/.test(line.text) ? dropped([line]) : []
        const indent = /^\s*/.exec(before.text)?.[0] ?? ''
        const isAfterTry = /catch|try/.test(
          added.slice(0, at - 1).findLast(({ text }) => text.startsWith(`${indent}}`) || /\btry\b/.test(text))?.text ??
            '',
        )
        // `try { … }` alone is no program.
        return isAfterTry &&
          /catch/.test(added.slice(0, at).findLast(({ text }) => /\bcatch\b|\btry\b/.test(text))?.text ?? '')
          ? [{ file: line.file, from: before.number, to: after.number, lines: [`${indent}}`], was: line.text.trim() }]
          : [{ file: line.file, from: line.number, to: line.number, lines: [], was: line.text.trim() }]
      }),
  },
]

/** What the function answers where it went well. */
const succeeded = ({ file, number }: AddedLine): string => {
  const above = file.after.split('\n').slice(0, number - 1)
  const kinds = above.flatMap((text) => [...text.matchAll(/return .*?kind: '(\w+)'/g)].map(([, kind = '']) => kind))
  return kinds.findLast((kind) => !/unknown|failed|error|invalid|declined|not/.test(kind)) ?? 'done'
}

/** Whole cases: from `it(` or `test(` to the bracket that closes it at the same depth, and the functions of pytest. */
function testCases(added: readonly AddedLine[]): readonly Edit[] {
  return added.flatMap((line, at) => {
    const indent = /^\s*/.exec(line.text)?.[0] ?? ''
    const isPython = /^\s*(?:async )?def test_\w+/.test(line.text)
    if (!isPython && !/^\s*(?:it|test)(?:\.each)?\(/.test(line.text)) return []
    const rest = added.slice(at + 1)
    const end = rest.findIndex(
      (other, n) =>
        other.number !== line.number + n + 1 ||
        other.file !== line.file ||
        (isPython
          ? other.text.trim() !== '' && !other.text.startsWith(`${indent} `)
          : other.text.startsWith(`${indent}})`)),
    )
    const body = isPython ? rest.slice(0, end === -1 ? rest.length : end) : end === -1 ? [] : rest.slice(0, end + 1)
    if (!isPython && body.length === 0) return []
    const next = added[at + body.length + 1]
    // The line between two cases goes with the first one.
    const gap = next !== undefined && next.text.trim() === '' && next.file === line.file ? [next] : []
    const above = added[at - 1]
    const last =
      gap.length === 0 && above !== undefined && above.text.trim() === '' && above.file === line.file ? [above] : []
    return dropped([...last, line, ...body, ...gap])
  })
}

/** null: the change has no place for it. */
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
