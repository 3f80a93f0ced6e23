/** Finds secrets by the name that they are assigned to. */
import {
  type FoundSecret,
  isSecretCandidate,
  kindOfName,
  type Range,
  readBareValue,
  readSecretName,
  readValue,
  readWideValue,
  type SecretName,
  type Value,
  type ValueContext,
} from './candidates.ts'

/** `password = "…"`, `API_KEY=…`, `"token": "…"`, `<secret>…</secret>`, `--password …`: a value whose name says that it is secret. */
export function findAssignments(text: string): readonly FoundSecret[] {
  const found: FoundSecret[] = []
  let cookiesUntil = 0
  keyword.lastIndex = 0
  for (let match = keyword.exec(text); match; match = keyword.exec(text)) {
    const name = wholeName(text, match.index, keyword.lastIndex)
    keyword.lastIndex = name.end
    const given = name.end - name.start > 80 ? null : namedValueAt(text, name)
    if (given === null) continue
    if (given.name === 'cookie') {
      // A second such header in the searched text is part of it.
      if (name.end < cookiesUntil) continue
      const cookies = findCookies(text, given.link.end)
      cookiesUntil = cookies.until
      found.push(...cookies.found)
      continue
    }
    const secret = secretAt(text, name, given)
    if (secret === null) continue
    found.push(secret)
    keyword.lastIndex = Math.max(name.end, ...secret.parts.slice(-1).map(({ end }) => end))
  }
  return found
}

/** `looksSecret` knows these words too. */
const keyword = new RegExp(
  'passw|passphrase|passcode|pwd|pass(?![a-z])|secret|token|credential|key|authorization|cookie|sess|jwt|mnemonic|' +
    '(?<![a-z])sid(?![a-z])|connection_?string|_(?:pat|dsn)(?![a-z])',
  'gi',
)

type NamedValue = { readonly name: SecretName; readonly link: Link }

function namedValueAt(text: string, at: Range): NamedValue | null {
  const name = readSecretName(text.slice(at.start, at.end))
  if (name === null || text.startsWith('[REDACTED:', at.start - 10)) return null
  const link = linkAt(text, at)
  return link && { name, link }
}

function secretAt(text: string, at: Range, { name, link }: NamedValue): FoundSecret | null {
  const start = name === 'authorization' ? skipScheme(text, link.end) : link.end
  const whole = readNamedValue(text, start, link, at)
  const value = [whole, whole && firstPart(text, whole)].find((one) => one && isSecret(one, name, link, text, at))
  return value ? { kind: kindOfName[name], parts: withoutScheme(value, name) } : null
}

/** The lines below may not belong to it. */
const firstPart = (text: string, value: Value): Value => ({
  text: text.slice(value.parts[0]?.start, value.parts[0]?.end),
  parts: value.parts.slice(0, 1),
  form: value.form,
})

function wholeName(text: string, from: number, to: number): Range {
  let start = from
  let end = to
  while (start > 0 && from - start < 100 && isNameCharacter(text.charCodeAt(start - 1))) start -= 1
  while (end < text.length && end - to < 100 && isNameCharacter(text.charCodeAt(end))) end += 1
  // `config.password`, `--password` and `\npassword` are a name with a prefix.
  const before = text.slice(start, from)
  const cut = Math.max(before.lastIndexOf('.') + 1, /^-+/.exec(before)?.[0].length ?? 0)
  const isEscape = start > 0 && text[start - 1] === '\\' && /^[nrt]/.test(before)
  const isWholeName = /^(?:connect\.sid|asp\.net_sessionid)$/i.test(text.slice(start, end))
  return { start: isWholeName ? start : start + Math.max(cut, isEscape ? 1 : 0), end }
}

const isNameCharacter = (code: number): boolean =>
  (code >= 97 && code <= 122) ||
  (code >= 65 && code <= 90) ||
  (code >= 48 && code <= 57) ||
  code === 95 ||
  code === 45 ||
  code === 46

type Link = {
  readonly end: number
  readonly form: 'pair' | 'entry' | 'element' | 'call' | 'flag'
  /** The operator. */
  readonly sign: string
  readonly hasSpace: boolean
  readonly isNameQuoted: boolean
}

/** What joins a name and its value; null if nothing does. */
function linkAt(text: string, name: Range): Link | null {
  for (const { form, pattern } of links) {
    pattern.lastIndex = name.end
    const match = pattern.exec(text)
    if (match === null) continue
    const [whole, quote, sign = '', space = ''] = match
    if (form === 'element' && !/[<:/]/.test(text.charAt(name.start - 1))) continue
    if (form === 'flag' && !flagBefore.test(text.slice(Math.max(0, name.start - 60), name.start))) continue
    const hasSpace = space !== '' || /\s/.test(whole.charAt(quote?.length ?? 0))
    return { end: name.end + whole.length, form, sign, hasSpace, isNameQuoted: quote !== undefined }
  }
  return null
}

const quoted = '(\\\\{0,4}["\'`])'
const gap = '[ \\t]{0,40}'
const mark = '(?:\\\\{0,4}["\'])?'
const signs = ':=|=>|\\?{1,2}=|\\|\\|=|\\+=|={1,3}|!={1,2}|:'
const newLine = '(?:\\r?\\n[+-]?[ \\t]{1,80})?'
const text = "&?(?:'static )?(?:string|String|str|char|text|SecretStr|Optional\\[str\\])"
const type = `(?:${gap}${text}(?: ?\\| ?\\w{1,20})?\\??${gap}=)?`

const links: readonly { readonly form: Link['form']; readonly pattern: RegExp }[] = [
  // { name: 'DB_PASSWORD', value: '…' }, key="ApiKey" value="…", and the two lines that YAML makes of it
  {
    form: 'entry',
    pattern: new RegExp(
      `${quoted}?(?:${gap},)?\\s{0,80}(?:[+-]\\s{0,80})?${mark}(?:[vV]alue|VALUE)${mark}${gap}([:=])(\\s{0,40})`,
      'y',
    ),
  },
  {
    form: 'pair',
    pattern: new RegExp(
      `${quoted}?\\]?\\)?${gap}[?!]?(${signs})${type}(${gap}${newLine})(?:\\(\\s{0,40}(?=["'\`\\\\]))?`,
      'y',
    ),
  },
  { form: 'element', pattern: />()()(?=[^<]{4,400}<\/)/y },
  { form: 'call', pattern: new RegExp(`${quoted}${gap}(,)(\\s{0,40})(?=["'\`\\\\])`, 'y') },
  { form: 'call', pattern: /()(\()(\s{0,40})(?=["'`\\])/y },
  { form: 'flag', pattern: /()()([ \t]{1,40})(?=[^\s-])/y },
]

/** `--token x`, `ENV TOKEN x`, `login me password x`. */
const flagBefore = new RegExp(
  '(?:^|[\\s"\'`])--?(?:[\\w-]{0,40}-)?$|' +
    '(?:ENV|ARG|#define|setx|set -gx|set -x|export|config:set)[ \\t]{1,9}$|login[ \\t]{1,9}\\S{1,40}\\s{1,9}$',
)

function readNamedValue(text: string, at: number, link: Link, name: Range): Value | null {
  if (link.form === 'element') {
    const end = text.indexOf('<', at)
    return { text: text.slice(at, end), parts: [{ start: at, end }], form: 'quoted' }
  }
  const value = readValue(text, at)
  if (value?.form !== 'bare') return value
  return isEnvironmentLine(text, name, link) || link.form === 'flag' ? readWideValue(text, at) : value
}

/** `NAME=value` with nothing around the sign, as shells and environment files have it. */
const isEnvironmentLine = (text: string, name: Range, link: Link): boolean =>
  link.sign === '=' &&
  !link.hasSpace &&
  /^[A-Z][A-Z0-9_]*$/.test(text.slice(name.start, name.end)) &&
  /^$|[\s"'+;-]/.test(text.charAt(name.start - 1))

function isSecret(value: Value, name: SecretName, link: Link, text: string, at: Range): boolean {
  const given = name === 'authorization' ? value.text.replace(scheme, '') : value.text
  const setting = contextOf(value, link, text, at)
  return setting !== null && isSecretCandidate(given, name, setting)
}

function contextOf(value: Value, link: Link, text: string, at: Range): ValueContext | null {
  const isData = link.form === 'element' || link.form === 'entry'
  if (isData || value.form === 'block' || isEnvironmentLine(text, at, link)) return 'data'
  if (link.form === 'flag') return 'literal'
  // A list of words and a call look alike.
  if (link.form === 'call')
    return value.form === 'quoted' && !/pass$/i.test(text.slice(at.start, at.end)) ? 'bare' : null
  if (value.form === 'quoted') return link.isNameQuoted && link.sign === ':' ? 'data' : 'literal'
  // In JSON only numbers and such have no quotes.
  if (link.isNameQuoted) return null
  const next = text.charAt(value.parts.at(-1)?.end ?? 0)
  if (/[([{`]/.test(next)) return null
  if (link.sign === '=' && !link.hasSpace && /[;?&]/.test(text.charAt(at.start - 1))) return 'data'
  if (link.sign === ':' && /-(?!pass)/i.test(text.slice(at.start, at.end))) return 'data'
  return 'bare'
}

export const scheme = /^(?:Bearer|Basic|Token|ApiKey|Api-Key|Bot|Digest|Negotiate|OAuth|SSWS|AWS4-HMAC-SHA256)\s+/i

function skipScheme(text: string, at: number): number {
  const rest = text.slice(at, at + 40)
  return at + (scheme.exec(rest)?.[0].length ?? 0)
}

function withoutScheme(value: Value, name: SecretName): readonly Range[] {
  const skip = name === 'authorization' ? (scheme.exec(value.text)?.[0].length ?? 0) : 0
  return value.parts.map(({ start, end }, index) => (index === 0 ? { start: start + skip, end } : { start, end }))
}

/** `Cookie: a=…; b=…`: each value that is long and mixed, under any name. */
export function findCookies(
  text: string,
  at: number,
): { readonly found: readonly FoundSecret[]; readonly until: number } {
  const rest = text.slice(at, at + 4_000)
  const end = rest.search(/\n(?![+-]?[ \t]*[A-Za-z0-9])/)
  const header = end === -1 ? rest : rest.slice(0, end)
  const found = Array.from(header.matchAll(/[\w.-]{1,80}=/g)).flatMap((name): FoundSecret[] => {
    const value = readBareValue(text, at + name.index + name[0].length)
    const isSession = value !== null && isSecretCandidate(value.text, 'cookie', 'data')
    return isSession ? [{ kind: kindOfName.cookie, parts: value.parts }] : []
  })
  return { found, until: at + header.length }
}

/** Passwords on a command line, whose options do not name them. Group 1 is the password and ends the match. */
const commandLines = [
  /\s(?:-u|--user|--proxy-user)[ \t=]{1,3}["']?[^\s:"'`]{1,80}:([^\s"'`]{4,200})/g,
  /\bsshpass[ \t]{1,9}-p[ \t]{0,9}["']?([^\s"'`]{4,200})/g,
  /\b(?:docker|podman|skopeo|oras)[ \t]{1,9}login\b[^\n|;&]{0,200}?[ \t]-p[ \t]{1,9}["']?([^\s"'`]{4,200})/g,
  /\bredis-cli\b[^\n|;&]{0,200}?[ \t]-a[ \t]{1,9}["']?([^\s"'`]{4,200})/g,
  /\bmysql\w{0,20}\b[^\n|;&]{0,200}?[ \t]-p["']?([^\s"'`-][^\s"'`]{3,200})/g,
]

const programs = /\s(?:-u|--user|--proxy-user)[ \t=]|sshpass|\blogin\b|redis-cli|mysql/

export const findCommandPasswords = (text: string): readonly FoundSecret[] =>
  programs.test(text)
    ? commandLines.flatMap((form) =>
        Array.from(text.matchAll(form)).flatMap(({ index, 0: whole, 1: password = '' }): FoundSecret[] => {
          const end = index + whole.length
          const isSecret = /[A-Za-z]/.test(password) && isSecretCandidate(password, 'password', 'literal')
          return isSecret ? [{ kind: 'password', parts: [{ start: end - password.length, end }] }] : []
        }),
      )
    : []

/** `Bearer …` and `Basic …`, in any header or sentence. */
export function findHeaders(text: string): readonly FoundSecret[] {
  return Array.from(text.matchAll(headerScheme)).flatMap((match) => {
    const value = readValue(text, match.index + match[0].length)
    if (value === null || value.form === 'block') return []
    const isSecret =
      match[1]?.toLowerCase() === 'basic' ? holdsPassword(value.text) : isSecretCandidate(value.text, 'token', 'data')
    return isSecret ? [{ kind: 'authorization', parts: value.parts }] : []
  })
}

const headerScheme = /\b(bearer|basic)[ \t]{1,8}(?=[\w"'`\\])/gi

/** A name and a password with a colon between them, in base64. */
const holdsPassword = (value: string): boolean =>
  /^[A-Za-z0-9+/]{8,}={0,2}$/.test(value) &&
  /^[\x20-\x7e]*:[\x20-\x7e]+$/.test(Buffer.from(value, 'base64').toString('latin1'))
