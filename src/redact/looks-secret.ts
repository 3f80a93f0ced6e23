/**
 * Prefilter of the redactor. False positives are fine; false only where the redactor would find nothing. The user's own
 * patterns are not part of it.
 */
export function looksSecret(text: string): boolean {
  if (tokenSigns.test(text) || otherSigns.some((sign) => sign.test(text))) return true
  // In JSON any character may be escaped.
  if (text.includes('\\') && /^\s*[[{]/.test(text)) return true
  const { text: joined } = joinSplitText(text)
  return tokenSigns.test(joined) || address.test(joined) || database.test(joined)
}

const tokenSigns = new RegExp(
  [
    'sk-|sess-|hf_|api_org_|r8_|gsk_|xai-|pplx-|lsv2_|(?:dapi|dkea|dose)[0-9a-f]{12}',
    'AKIA|ASIA|ABIA|ACCA|ABSK|bedrock-api-key-|AIza|GOCSPX-|ya29\\.|1//0|:APA91b|\\dQ~|AzFu|AzCa|AzSe|\\+ASt|\\+ACR',
    'AccountKey=|SharedAccessKey=|sig=|AZDO|LTAI|AKID|do[por]_v1_|DO00[A-Z0-9]{10}|HRKU-|cfut_|cfat_|cfk_|v1\\.0-',
    'vc[piark]_|vercel_blob_rw_|nf[pcobu]_|sbp_|sb_secret_|napi_|pscale_|FlyV1|fo1_|rnd_|pul-|tskey-',
    'gh[pousr]_|github_pat_|gl(?:pat|dt|rt|rtr|ptt|ft|imt|agent|oas|soat|ffct|cbt)-|GR1348941|ATBB|ATRT|npm_',
    '_auth|_password|pypi-|rubygems_|cio[A-Za-z0-9]{32}|oy2[a-z0-9]{40}|dckr_|AKCp|cmVmd|CCIP|bkua_|bkaj_|bkat_',
    'sq[upa]_|sgp_|snyk_|PMAK-|hv[sbr]\\.|[sbr]\\.[A-Za-z0-9]{24}|\\.atlasv1\\.|dp\\.|st\\.[0-9a-f]{24}|ops_eyJ',
    'A3-[A-Z0-9]{6}-|AGE-SECRET-KEY-|xox[a-eoprs][-.]|xapp-|xwfp-|hooks\\.slack\\.com|webhook\\.office\\.com',
    '/api/webhooks/|\\.[\\w-]{6}\\.[\\w-]{27}|\\d{8}:[\\w-]{30}|(?:SK|AC)[0-9a-f]{32}|SG\\.|key-[A-Za-z0-9]{32}',
    '-[0-9a-f]{8}-[0-9a-f]{8}|[0-9a-f]{8}-us\\d|xkeysib-|xsmtpsib-|[sr]k_(?:live|test|prod)_|whsec_|shp[a-z]{2,3}_',
    'sq[0O](?:atp|csp)-|EAAA[A-Za-z0-9_-]{56}|access_token\\$|lin_|secret_|ntn_|fig[dou]r?_|AT[ACO]TT3|[12]/\\d{15}',
    'pat[A-Za-z0-9]{14}\\.|sl\\.[\\w.-]{60}|CFPAT-|glsa_|glc_|eyJ|sntry[su]_|sentry|NR(?:AK|JS|II|IQ|RA|SP|AA)-|NRAL',
    'dt0[a-z]\\d\\d\\.|phx_|(?:api|sdk)-[0-9a-f]{8}-|EAA[BCGM][A-Za-z0-9]{80}',
    '(?<!A)A{21,24}[B-Za-z0-9][A-Za-z0-9]{10,80}%',
  ].join('|'),
)

const address = /:\\{0,4}\/\\{0,4}\/[^\s:@/?#"'`<>\\]{0,200}:[^\s/?#"'`<>\\]{1,300}@/
const database =
  /(?:sql|postgres|maria|mongo|redis|amqp|oracle|clickhouse|cockroach|\+\w{1,20})[\w+]{0,20}:\/\/[^\s"'`<>\\]{1,401}@/i
const words =
  'passw|passphrase|passcode|pwd|pass|secret|token|credential|key|authorization|cookie|sess|sid|jwt|mnemonic|' +
  'connection_?string|_pat|_dsn'
/** The lookahead takes the rest of the name at once: there is no trying with less of it. */
const name = `(?:${words})(?=([\\w.-]{0,100}))\\1`
const quote = '(?:\\\\{0,4}["\'`])'

/** A name and what joins it to a value, schemes of a header, addresses with a password, command lines, private keys. */
const otherSigns = [
  new RegExp(`${name}${quote}?[\\])]{0,2}[ \\t]{0,40}[?!]?(?::|=|[?|+!]{1,2}=)`, 'i'),
  new RegExp(`${name}${quote}?(?:[ \\t]{0,40},)?\\s{0,80}(?:[+-]\\s{0,80})?${quote}?value`, 'i'),
  new RegExp(`${name}(?:>|${quote}?[ \\t]{0,40}[(,]\\s{0,40}["'\`\\\\])`, 'i'),
  new RegExp(`(?:^|[\\s"'\`])--?[\\w.-]{0,100}${name}[ \\t]`, 'i'),
  new RegExp(
    `(?:ENV|ARG|#define|setx|-gx|-x|export|config:set|login[ \\t]{1,9}\\S{1,40})\\s{1,9}[\\w.-]{0,100}${name}[ \\t]`,
    'i',
  ),
  /\b(?:bearer|basic)[ \t]{1,8}[\w"'`\\]/i,
  address,
  database,
  /\s(?:-u|--user|--proxy-user)[ \t=]{1,3}[^\s:]{1,80}:|\bsshpass|\blogin\b|redis-cli|mysql/,
  /"(?:d|p|q|dp|dq|qi|k)"\s*:\s*"[\w-]{32}/,
  /PRIVATE KEY|Private-Lines|PuTTY-User-Key-File/,
]

/**
 * Joins text that was broken in the middle of a word: a line wrapped by a mail program, a backslash at
 * the end of a line, `"one" + "two"`, the `+` of a diff, the indentation of a YAML block. Only the words beside such a
 * break are joined, so that an ordinary file yields next to nothing.
 */
type JoinedText = { readonly text: string; readonly pieces: readonly Piece[] }

/** A part without a break in it: `at` in the joined text is `from` in the original. */
export type Piece = {
  readonly at: number
  readonly from: number
  readonly length: number
  /** What precedes it: nothing, a break that may be a coincidence, or an explicit continuation. */
  readonly after: 'start' | 'break' | 'continuation'
}

export type Break = { readonly end: number; readonly isContinuation: boolean }

const wordCharacters = 'A-Za-z0-9_./+=:~$@%-'
const isWord = Uint8Array.from({ length: 128 }, (_, code) =>
  new RegExp(`[${wordCharacters}]`).test(String.fromCharCode(code)) ? 1 : 0,
)

/** Every repetition is bounded, so that no text makes this slow. */
const quoteMark = '\\\\{0,4}["\'`]'
const operator = '[+.&~]|\\.\\.|<>'
const space = '[ \\t]{0,40}'
const indentation = '(?:[ \\t]|\\\\t){0,200}'
const lineEnd = '(\\\\{0,4})(?:\\r?\\n|\\\\{1,4}(?:r\\\\{1,4})?n)'
const lineStart = `[+-]?${indentation}(?:(?:\\/\\/|[#*>|]|\\d{1,6}[→\\t])${indentation})?`
const between = `(?:(${operator})${space})?`
const before = `(?:(${quoteMark})${space}${between}|${space})`
const behind = `(?:(${operator})${space}(?=${quoteMark}))?(${quoteMark})?`
const overLines = `${before}${lineEnd}${lineStart}${behind}`
const onOneLine = `${quoteMark}${space}${between}${quoteMark}`
const source = [
  '(?=["\'`\\\\ \\t\\r\\n])',
  `(?<=[${wordCharacters}])`,
  `(?:${overLines}|${onOneLine})`,
  `(?=[${wordCharacters}])`,
].join('')
const anyBreak = new RegExp(source, 'g')
const breakHere = new RegExp(source, 'y')

export function joinSplitText(text: string): JoinedText {
  const joined: string[] = []
  const pieces: Piece[] = []
  let length = 0
  let openUntil = -1
  const add = (from: number, end: number, after: Piece['after']) => {
    if (after === 'start' && length > 0) length += joined.push('\n') && 1
    pieces.push({ at: length, from, length: end - from, after })
    joined.push(text.slice(from, end))
    length += end - from
    openUntil = end
  }
  anyBreak.lastIndex = 0
  for (let match = anyBreak.exec(text); match; match = anyBreak.exec(text)) {
    const found = readBreak(match)
    if (!found) continue
    if (match.index !== openUntil) add(startOfWord(text, match.index), match.index, 'start')
    add(found.end, endOfWord(text, found.end), found.isContinuation ? 'continuation' : 'break')
  }
  return { text: joined.join(''), pieces }
}

/** The break that begins exactly at `at`, where a word has just ended. */
export function breakAt(text: string, at: number): Break | null {
  breakHere.lastIndex = at
  const match = breakHere.exec(text)
  return match && readBreak(match)
}

function readBreak(match: RegExpExecArray): Break | null {
  const [whole, close, operatorBefore, slash, operatorBehind, open, operatorBetween] = match
  const end = match.index + whole.length
  if (slash === undefined) return { end, isContinuation: operatorBetween !== undefined }
  // A quote on one side only is the end of one string and the beginning of something else.
  if ((close === undefined) !== (open === undefined)) return null
  return { end, isContinuation: operatorBefore !== undefined || operatorBehind !== undefined || slash !== '' }
}

function startOfWord(text: string, end: number): number {
  let at = end
  while (at > 0 && isWord[text.charCodeAt(at - 1)] === 1) at -= 1
  return at
}

function endOfWord(text: string, start: number): number {
  let at = start
  while (at < text.length && isWord[text.charCodeAt(at)] === 1) at += 1
  return at
}
