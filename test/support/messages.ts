import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { transformSync } from 'esbuild'
import { parseAst } from 'vite'
import { project } from './project.ts'

/**
 * `npm run messages`: every text of two or more words in the source, with `…` for what is filled in. What only a model
 * reads (prompts, the defects of calibrate) and what only a program reads (schemas) is left out.
 */
export type Message = { readonly file: string; readonly text: string }

const unseen = [
  'src/build/',
  'src/calibrate/code-defects.ts',
  'src/calibrate/plan-',
  'src/gate/sandbox/profiles.ts',
  'src/redact/',
  'src/reflect/prompts.ts',
  'src/review/prompts.ts',
  'src/schemas/',
]

export const collectMessages = (): Message[] =>
  sources().flatMap((file) => {
    const source = readFileSync(join(project, file), 'utf8')
    return textsIn(file.endsWith('.json') ? `export default ${source}` : source).map((text) => ({ file, text }))
  })

/** Texts for people that stand beside the code. */
const data = ['src/cli/commands.json', 'src/cli/demo.json']

const sources = (): string[] =>
  ['bootstrap', 'src']
    .flatMap((folder) =>
      readdirSync(join(project, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
    )
    .filter((file) => file.endsWith('.ts') && !unseen.some((beginning) => file.startsWith(beginning)))
    .concat(data)
    .sort()

function textsIn(source: string): string[] {
  const { code } = transformSync(source, { loader: 'ts', target: 'esnext' })
  const found: string[] = []
  visit(parseAst(code), (node) => {
    if (node.type === 'Literal' && typeof node.value === 'string') found.push(node.value)
    if (node.type === 'TemplateLiteral') found.push(node.quasis.map(({ value }) => value.cooked ?? '').join('…'))
  })
  return [...new Set(found)].filter(isMessage)
}

type Node = { type: string; value?: unknown; quasis: { value: { cooked: string | null } }[] }

function visit(node: unknown, see: (node: Node) => void): void {
  if (Array.isArray(node)) for (const each of node) visit(each, see)
  else if (typeof node === 'object' && node !== null) {
    const { type } = node as Node
    if (type === 'ImportDeclaration') return
    if (typeof type === 'string') see(node as Node)
    for (const each of Object.values(node)) visit(each, see)
  }
}

const isMessage = (text: string): boolean =>
  /\p{L}{2,}[,.:;]? (?:\p{L}|[`"(…])/u.test(text) && !/^[\w-]+( -{1,2}[\w-]+)+$/.test(text)

if (process.argv[1] === import.meta.filename)
  for (const { file, text } of collectMessages()) console.log(`${file}\t${text.replaceAll('\n', '⏎')}`)
