/** Finds secrets in plain text: by the form of tokens, by what stands around them, and by names. */
import { findAssignments, findCommandPasswords, findHeaders } from './assignments.ts'
import type { Secret } from './mask.ts'
import { isPlaceholder } from './secret-names.ts'
import { joinedView, type Range, type View, wholeView } from './split-text.ts'
import { tokenKinds } from './token-kinds.ts'

export type FoundSecret = Range & { readonly kind: string }

/** The most certain first: of two that overlap, the first names the kind. */
const detectors: readonly ((text: string, view: View) => Iterable<FoundSecret>)[] = [
  findKeyBlocks,
  findTokens,
  findUrlPasswords,
  findHeaders,
  findCommandPasswords,
  findAssignments,
]

/** Each detector reads the text as it stands, and once more the lines in which a word had come apart. */
export function findSecrets(text: string): readonly Secret[] {
  const joined = joinedView(text)
  const views = joined ? [wholeView(text), joined] : [wholeView(text)]
  return detectors.flatMap((detect) =>
    views.flatMap((view) =>
      Array.from(detect(view.text, view)).flatMap(({ kind, start, end }) => {
        const parts = view.rangesOf({ start, end })
        return view === joined && parts.length < 2 ? [] : [{ kind, parts }]
      }),
    ),
  )
}

/**
 * Private keys between their `BEGIN` and `END` lines, with any wrapping of the lines between: escapes, quotes, the
 * prefix of a diff or of a comment. A block that was cut off ends where its last line of base64 does.
 */
function* findKeyBlocks(text: string): Generator<FoundSecret> {
  let from = 0
  for (const { index: start, 0: begin } of text.matchAll(keyBegin)) {
    if (start < from) continue
    const inner = start + begin.length
    keyBody.lastIndex = inner
    const body = keyBody.exec(text)?.[0] ?? ''
    const close = keyEnd.exec(body) ?? cutOffBody.exec(body)
    if (!close || close.index + close[0].length === 0) continue
    from = inner + close.index + close[0].length
    yield { kind: 'private-key', start, end: from }
  }
}

const keyBegin =
  /-{2,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{2,5}|PuTTY-User-Key-File-\d|Private-Lines: {0,4}\d{1,4}/g
const keyEnd = /-{2,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{2,5}|Private-MAC: {0,4}[0-9a-f]{20,128}/
const keyHeader =
  '(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash|Encryption|Public-Lines|Key-Derivation|Argon2-\\w{1,12}|' +
  'Private-Lines): {0,4}[^\\n\\\\]{0,200}'
const lineMarks = '\\s"\'`+,;:.#*>|()[\\]&~→'
/** Between two lines of base64: escapes, quotes, operators, prefixes and headers. */
const separator = `(?:${keyHeader}|\\d{1,6}[→\\t]|\\\\{1,4}[nrt]?|[${lineMarks}]|-(?!-{0,4} ?(?:BEGIN|END)))`
const keyBody = new RegExp(`(?:${keyHeader}|(?!-{2,5} ?BEGIN)[A-Za-z0-9+/=\\\\${lineMarks}-]){0,40000}`, 'y')
/** Without an end line, words are prose: a line has 16 characters, and only the last one is shorter. */
const base64 = '(?:[A-Za-z0-9+/=]|\\\\/)'
const cutOffBody = new RegExp(
  `^(?:${separator}{0,300}${base64}{16,200})+(?:${separator}{0,300}${base64}{1,15}(?!(?:\\\\[nr]|[^A-Za-z]){0,12}[A-Za-z]))?`,
)

function* findTokens(text: string, { beginsPiece }: View): Generator<FoundSecret> {
  // No token is shorter.
  if (!/[\w+/=.:-]{8}/.test(text)) return
  for (const { kind, form, splitForm, only, sign } of tokenKinds) {
    if (!text.includes(sign)) continue
    const used = beginsPiece ? splitForm : form
    used.lastIndex = 0
    for (let match = used.exec(text); match; match = used.exec(text)) {
      const end = used.lastIndex
      const start = end - (match[1] ?? match[0]).length
      const isInWord = only !== 'anywhere' && /[A-Za-z0-9]/.test(text.charAt(match.index - 1))
      if (beginsPiece && isInWord && !beginsPiece(match.index)) used.lastIndex = match.index + 1
      else if (only !== 'mixed' || !isMadeOfWords(text.slice(start, end))) yield { kind, start, end }
    }
  }
}

/** `sk-folding-cube-spinner`, `npm_config_user_agent`: a style or a setting, not a key. */
function isMadeOfWords(token: string): boolean {
  const words = token.split(/[-_.]/)
  return words.length > 2 && words.every((word) => /^(?:[a-z]{0,14}|[A-Z]?[a-z]{0,14}|[A-Z]{1,14}|\d{1,3})$/.test(word))
}

/** `https://user:password@host`: the password alone. Passwords of databases are often not URL-encoded. */
function* findUrlPasswords(text: string): Generator<FoundSecret> {
  for (const form of urls)
    for (const match of text.matchAll(form)) {
      const { user = '', password = '' } = match.groups ?? {}
      const end = match.index + match[0].length
      if (password !== user && !isPlaceholder(password))
        yield { kind: 'url-password', start: end - password.length, end }
    }
}

const databases =
  'postgres(?:ql)?|mysql|mariadb|mongodb(?:\\+srv)?|rediss?|amqps?|mssql|sqlserver|oracle|clickhouse|cockroachdb'
const user = '(?<user>[^\\s:@/?#"\'`<>\\\\]{0,200})'
const host = '[\\w.-]{1,200}(?::\\d{1,5})?(?:[/?\\s"\'`,;)]|$)'
const urls = [
  new RegExp(`:\\\\{0,4}/\\\\{0,4}/${user}:(?<password>[^\\s/?#"'\`<>\\\\]{1,300})(?=@)`, 'g'),
  new RegExp(`(?:${databases})(?:\\+\\w{1,20})?://${user}:(?<password>[^\\s"'\`<>\\\\]{1,200})(?=@${host})`, 'gi'),
]
