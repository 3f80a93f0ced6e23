import type { ReviewerAnswer } from '../schemas/review.ts'
import { parseDiff } from '../text/diff.ts'
import { globAlternatives, globNames } from '../text/glob.ts'
import { marksIn } from './mask.ts'

/** A reviewer may have opened a sensitive file: its quotes of it are withheld, its findings stay. */
export function withholdFromAnswer(answer: ReviewerAnswer, sensitiveFiles: readonly string[]) {
  const files = new Set<string>()
  const clean = (text: string): string => {
    const withheld = withholdQuotes(text, sensitiveFiles)
    for (const file of withheld.files) files.add(file)
    return withheld.text
  }
  const cleaned: ReviewerAnswer = {
    ...answer,
    summary: clean(answer.summary),
    context_summary: answer.context_summary === null ? null : clean(answer.context_summary),
    question: answer.question === null ? null : clean(answer.question),
    findings: answer.findings.map((finding) => ({
      ...finding,
      problem: clean(finding.problem),
      evidence: clean(finding.evidence),
      fix: clean(finding.fix),
    })),
    previous_findings: answer.previous_findings.map((status) => ({ ...status, reason: clean(status.reason) })),
  }
  return { answer: cleaned, files: [...files] }
}

const pathCharacters = /[\w.@~+-]+(?:\/[\w.@~+-]+)*/g
const maxPathLength = 300

export const sensitiveFilesIn = (text: string, more: readonly string[]): readonly string[] =>
  filesIn(text, sensitiveFileTest(more))

function filesIn(text: string, isSensitive: (path: string) => boolean): readonly string[] {
  const named = new Set<string>()
  for (const [path] of text.matchAll(pathCharacters)) {
    // The full stop of a sentence is no part of a name.
    const name = path.length > maxPathLength ? '' : path.replace(/\.+$/, '')
    if (name !== '' && isSensitive(name)) named.add(name)
  }
  return [...named]
}

const withheld = '[withheld: the content of a file that holds secrets]'

/** That something was redacted stays visible; the marks hold nothing of it. */
const withhold = (content: string): string => [withheld, ...new Set(marksOf(content))].join(' ')

const marksOf = (content: string): string[] => marksIn(content).map(({ start, end }) => content.slice(start, end))

const withoutMarks = (content: string): string =>
  marksOf(content).reduce((rest, mark) => rest.replace(mark, ''), content)

/** Non-empty lines between the name of a file and a quote from it. */
const maxLinesBetween = 3

/**
 * Withholds quotes from sensitive files, and keeps what is said about them. A code block belongs to the file if the file
 * is named in one of the three lines before it, in its first line, or in the line right after it; quoted lines (`>`) if
 * it is named before them. In a line near the name, code in backticks with a `=` or a `:` is withheld as well, and the
 * value in `NAME=value`.
 */
export function withholdQuotes(text: string, more: readonly string[]) {
  const isSensitive = sensitiveFileTest(more)
  const files = filesIn(text, isSensitive)
  if (files.length === 0) return { text, files }
  const lines = text.split('\n')
  const names = (line: string | undefined): boolean => line !== undefined && filesIn(line, isSensitive).length > 0
  const kept: string[] = []
  let near = 0
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    if (names(line)) near = maxLinesBetween + 1
    const end = endOfBlock(lines, at)
    if (end !== null) {
      const belongs = near > 0 || names(lines[at + 1]) || names(lines[end + 1])
      const block = lines.slice(at, end + 1)
      kept.push(...(belongs ? [withhold(block.join('\n'))] : block))
      at = end
    } else if (near > 0 && /^\s*>/.test(line)) {
      const quote = withhold(line)
      if (quote !== withheld || kept.at(-1)?.startsWith(withheld) !== true) kept.push(quote)
    } else {
      kept.push(near > 0 ? withoutValues(line) : line)
      if (line.trim() !== '') near -= 1
    }
  }
  return { text: kept.join('\n'), files }
}

/** The last line of the code block that begins here; one that is never closed goes on to the end. */
function endOfBlock(lines: readonly string[], start: number): number | null {
  const mark = /^\s*(?:>\s*)?(`{3,}|~{3,})/.exec(lines[start] ?? '')?.[1]
  if (mark === undefined) return null
  for (let end = start + 1; end < lines.length; end += 1)
    if (lines[end]?.replace(/^[\s>]+/, '').startsWith(mark)) return end
  return lines.length - 1
}

/** `[REDACTED:key]` has the form of a name and a value itself. */
const withoutValues = (line: string): string => {
  const code = withoutCode(line)
  const marks = marksIn(code)
  return code.replace(
    /\b([A-Z][A-Z0-9_]{2,60}\s{0,3}[=:]\s{0,3})([^\s`]+)/g,
    (whole, name: string, value: string, at: number) =>
      marks.some(({ start, end }) => start < at && at < end) || /^[.,;:!?)"']*$/.test(withoutMarks(value))
        ? whole
        : `${name}${withhold(value)}`,
  )
}

function withoutCode(line: string): string {
  const parts = line.split('`')
  for (let at = 1; at < parts.length - 1; at += 1) {
    const code = parts[at] ?? ''
    if (!/[=:]/.test(withoutMarks(code))) continue
    if (!isLocation(code)) parts[at] = withhold(code)
    // What follows stands between two pieces of code.
    at += 1
  }
  return parts.join('`')
}

/** `src/a.ts:12` is a location, not content. */
const isLocation = (code: string): boolean => code.length < maxPathLength && /^[^\s=]+:\d+(?::\d+|-\d+)?$/.test(code)

/** A diff without the contents of sensitive files; that they changed stays visible. */
export function withholdFromDiff(text: string, more: readonly string[]) {
  const files = parseDiff(text)?.files ?? []
  const isSensitive = sensitiveFileTest(more)
  const named = new Set<string>()
  const parts = files.map((file, index) => {
    const whole = text.slice(file.start, files[index + 1]?.start)
    const sensitive = [...file.names, ...file.suspectNames].filter(isSensitive)
    for (const name of sensitive) named.add(name)
    return sensitive.length === 0 ? whole : withoutContent(whole)
  })
  return { diff: text.slice(0, files[0]?.start) + parts.join(''), files: [...named] }
}

/** Of a file: its head, and where its hunks are. The words after the second @@ are a line of the file, too. */
function withoutContent(file: string): string {
  const lines = file.split('\n')
  const firstHunk = lines.findIndex((line) => line.startsWith('@@'))
  const head = lines.slice(0, firstHunk === -1 ? lines.length : firstHunk).filter((line) => headLine.test(line))
  const hunks = lines.flatMap((line) => /^@@+ [-+\d, ]+ @@+/.exec(line)?.[0] ?? [])
  return `${[...head, ...hunks.map((hunk) => `${hunk} ${withheld}`)].join('\n')}\n`
}

const headLine =
  /^(?:diff |index |--- |\+\+\+ |(?:new|deleted) file|old mode|new mode|similarity|rename |copy |Binary files)/

/** Names of files that hold secrets, in any folder. */
const names = new Set(
  `.env .envrc .netrc _netrc .npmrc .yarnrc.yml .pypirc .pgpass .my.cnf .htpasswd .git-credentials .dockercfg .s3cfg
  .boto .vault-token .terraformrc credentials.json credentials.yml credentials.yaml credentials.xml secrets.json
  secrets.yml secrets.yaml secrets.toml secret.json secret.yml secret.yaml auth.json kubeconfig master.key shadow
  id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk wallet.dat`.split(/\s+/),
)

/** Common names that mean secrets only in one folder. */
const pathEnds = new Set(
  `.aws/credentials .aws/config .kube/config .docker/config.json .config/gh/hosts.yml gcloud/credentials.db
  gcloud/application_default_credentials.json .cargo/credentials .cargo/credentials.toml .gem/credentials
  .codex/auth.json .claude/.credentials.json config/master.key`.split(/\s+/),
)

const extensions = new Set(
  'pem key p12 pfx p8 pkcs12 jks keystore kdbx ppk agekey ovpn tfvars tfstate mobileprovision'.split(' '),
)

const patterns = ['.env.*', '*.env', 'service-account*.json', 'service_account*.json', '*-credentials.json']

/** Examples and public parts. */
const harmless = /\.(?:example|sample|template|tpl|dist|defaults?|schema|pub|md)$/i

/** Objects in programs: `event.key` and `process.env` are no files. */
const objects = new Set(
  `process meta import deno bun event evt item entry prop props node row obj object this self super opt opts option
  options column field pair element record attr param params config cfg ctx context req request res response state
  action cache map data result target header tab menu route query storage arg args app store keys value values globalthis
  window runtime settings worker platform job container match token user session cookie react child vnode prev next current
  left right first last`.split(/\s+/),
)

const isProperty = (path: string): boolean => {
  const words = path.split('.')
  const [first = '', last = ''] = [words[0], words.at(-1)]
  return (
    words.length > 1 && /^(?:key|env)$/.test(last) && /^\w+$/.test(first) && (first.length < 3 || objects.has(first))
  )
}

/** The same as patterns of names and of ends of paths, examples included. */
export const sensitiveFilePatterns = (more: readonly string[]): string[] => [
  ...names,
  ...pathEnds,
  ...[...extensions].map((extension) => `*.${extension}`),
  ...[...patterns, ...more].flatMap(alternatives).map((pattern) => pattern.replace(/^\/+/, '')),
]

/** Tests whether a path is that of a file with secrets: built-in names, and the user's own patterns. */
export function sensitiveFileTest(more: readonly string[]): (path: string) => boolean {
  const all = [...patterns, ...more].flatMap(alternatives).map((pattern) => pathTest(pattern.toLowerCase()))
  return (path) => {
    const plain = path.toLowerCase()
    if (harmless.test(plain) || isProperty(plain)) return false
    const folders = plain.split('/')
    const name = folders.at(-1) ?? ''
    const isKnown =
      names.has(name) ||
      pathEnds.has(folders.slice(-2).join('/')) ||
      pathEnds.has(folders.slice(-3).join('/')) ||
      (name.lastIndexOf('.') > 0 && extensions.has(name.slice(name.lastIndexOf('.') + 1)))
    return isKnown || all.some((matchesPath) => matchesPath(plain, name))
  }
}

/** `*.{pem,key}` is two patterns; of too many, each is everything. */
function alternatives(pattern: string): readonly string[] {
  const all = globAlternatives(pattern)
  return all.length > 0 ? all : [pattern.replace(/\{.*\}/s, '*').replace(/[{}]/g, '?')]
}

/** A pattern is about the end of a path; a `/` at its end is what is below. */
function pathTest(pattern: string): (path: string, name: string) => boolean {
  const plain = pattern.replace(/^\/+/, '').replace(/(?:\/\*\*)?\/?$/, (end) => (end === '' ? '' : '/**/*'))
  // Nearly every name begins or ends otherwise, and texts name many.
  const [, start = '', end = ''] = /([^*?[/]*)(?:[*?[][^/]*?)?([^*?\]/]*)$/u.exec(plain) ?? []
  return (path, name) =>
    path.endsWith(end) &&
    name.startsWith(start) &&
    globNames(`**/${plain}`, path.replace(/^\/+|(?<=\/)\/+/g, ''), false)
}
