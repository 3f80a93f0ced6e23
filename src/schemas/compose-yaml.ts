import { Composer, type Document, Lexer, LineCounter, type ParsedNode, Parser, visit } from 'yaml'
import { byPlace, type Finding, type Place } from './located.ts'
import { explainYamlError } from './yaml-errors.ts'

type YamlDocument = Document.Parsed<ParsedNode>
export type Composed = {
  readonly documents: readonly YamlDocument[]
  readonly findings: readonly Finding[]
  readonly lines: LineCounter
}

/** The reader's time grows with the effort and its stack with the depth; a real file comes to some 1,500 and 15. */
const maxEffort = 3000
const maxDepth = 64

/** The documents of a text, and what YAML itself finds wrong; never more work than a large real file would make. */
export function composeYaml(text: string): Composed {
  const lines = new LineCounter()
  const parser = new Parser(lines.addNewLine)
  lines.addNewLine(0)
  const tokens = []
  let effort = 0
  for (const lexeme of new Lexer().lex(text)) {
    tokens.push(...parser.next(lexeme))
    effort += effortOf(lexeme)
    const at: Place = [parser.offset, parser.offset]
    if (effort > maxEffort) return { documents: [], lines, findings: [{ at, path: '', ...tooLong }] }
    if (parser.stack.length > maxDepth) return { documents: [], lines, findings: [{ at, path: '', ...tooDeep }] }
  }
  tokens.push(...parser.end())
  const documents = [...new Composer(options).compose(tokens, true, text.length)]
  return { documents, lines, findings: onePerLine(documents.flatMap(syntaxFindings), lines) }
}

/** Each line of a text is folded, and each escape may become an error with its stack trace. */
const effortOf = (lexeme: string): number =>
  lexeme.split('\n').length + (lexeme.startsWith('"') ? 2 * (lexeme.split('\\').length - 1) : 0)

const tooLong = { message: 'The file is too long to be a configuration; nothing from here on was read.' }
const tooDeep = { message: 'This is nested too deeply to be a configuration; nothing from here on was read.' }

/** YAML 1.2 whatever the file says, so that `off` stays a word. Keys are compared later: here it would be quadratic. */
const options = { schema: 'core', resolveKnownTags: false, uniqueKeys: false } as const

const syntaxFindings = (document: YamlDocument): Finding[] =>
  [...document.errors, ...document.warnings].map(({ code, message, pos }) => {
    const { atOpening, ...words } = explainYamlError(code, message)
    return { at: (atOpening && openingOf(document, pos[0])) ?? pos, path: '', ...words }
  })

/** The innermost quote or bracket that ends at this offset. */
function openingOf(document: YamlDocument, end: number): Place | undefined {
  let opening: Place | undefined
  visit(document, {
    Value(_, node) {
      const [start, valueEnd] = node.range ?? [-1, -1]
      const opens = 'flow' in node ? node.flow === true : 'type' in node && node.type?.startsWith('QUOTE')
      if (opens && valueEnd === end) opening = [start, end]
    },
  })
  return opening
}

/** One mistake often has YAML stumble several times on its line. */
function onePerLine(findings: readonly Finding[], lines: LineCounter): readonly Finding[] {
  const byLine = new Map<number, Finding>()
  for (const finding of [...findings].sort(byPlace)) {
    const { line } = lines.linePos(finding.at[0])
    if (!byLine.has(line)) byLine.set(line, finding)
  }
  return [...byLine.values()]
}
