/** Names of files that hold secrets, as patterns: `*` stands for anything but `/`, and a `/` ties it to its folder. */
const builtIn = [
  ...[
    '.env',
    '.env.*',
    '*.env',
    '.envrc',
    '.netrc',
    '_netrc',
    '.npmrc',
    '.yarnrc.yml',
    '.pypirc',
    '.pgpass',
    '.my.cnf',
  ],
  ...[
    '*.pem',
    '*.key',
    '*.p12',
    '*.pfx',
    '*.p8',
    '*.jks',
    '*.keystore',
    '*.kdbx',
    '*.ppk',
    '*.asc',
    '*.gpg',
    '*.agekey',
  ],
  ...['id_rsa', 'id_dsa', 'id_ecdsa', 'id_ed25519', 'id_ecdsa_sk', 'id_ed25519_sk', '.htpasswd', '.git-credentials'],
  ...['credentials.json', 'credentials.y*ml', 'secrets.json', 'secrets.y*ml', 'secrets.toml', 'service-account*.json'],
  ...[
    '.aws/credentials',
    '.docker/config.json',
    '.dockercfg',
    '.kube/config',
    'kubeconfig',
    '.vault-token',
    'auth.json',
  ],
  ...['*.tfvars', '*.tfstate', '.terraformrc', '.s3cfg', '.boto', 'gcloud/credentials.db', 'master.key', 'shadow'],
] as const

/** Made to be read by everybody, or no file at all. */
const harmless = /\.(?:example|sample|template|dist|defaults?|pub)$|^(?:.*\.)?(?:process|meta|Deno|Bun)\.env$/i

/** What may stand around a path in prose, in code and in a diff. */
const pathCharacters = /[\w.@~+-]+(?:\/[\w.@~+-]+)*/g

/** Which files with secrets a text names. */
export function sensitiveFilesIn(text: string, more: readonly string[]): readonly string[] {
  const isSensitive = matcher(more)
  const named = new Set<string>()
  for (const [path] of text.matchAll(pathCharacters)) {
    // The full stop of a sentence is no part of a name.
    const name = path.replace(/[.]+$/, '')
    if (name.length < 300 && isSensitive(name)) named.add(name)
  }
  return [...named]
}

const withheld = '[withheld: the content of a file that holds secrets]'

/**
 * What a reviewer quotes of such a file goes, what it says about it stays: a code block that comes within three lines
 * after its name, and quoted lines there; in a single line, assignments in backticks and `NAME=value`.
 */
export function withholdQuotes(text: string, more: readonly string[]): { text: string; files: readonly string[] } {
  const files = sensitiveFilesIn(text, more)
  if (files.length === 0) return { text, files }
  const kept: string[] = []
  let [near, fence] = [0, '']
  for (const line of text.split('\n')) {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1] ?? ''
    if (fence !== '') {
      if (mark.startsWith(fence)) fence = ''
      continue
    }
    if (sensitiveFilesIn(line, more).length > 0) near = 4
    if (near > 0 && mark !== '') {
      fence = mark
      kept.push(withheld)
    } else if (near > 0 && /^\s*>/.test(line)) {
      if (kept.at(-1) !== withheld) kept.push(withheld)
    } else {
      kept.push(near > 0 ? withoutAssignments(line) : line)
      if (line.trim() !== '') near -= 1
    }
  }
  return { text: kept.join('\n'), files }
}

const withoutAssignments = (line: string): string =>
  line
    .replace(/`[^`\n]*[=:][^`\n]*`/g, (code) => (isPlace(code) ? code : `\`${withheld}\``))
    .replace(/\b([A-Z][A-Z0-9_]{2,60}\s{0,3}[=:]\s{0,3})[^\s`]+/g, `$1${withheld}`)

/** `src/a.ts:12` is where something stands, and not what. */
const isPlace = (code: string): boolean => /^`[^\s=]+:\d+(?::\d+|-\d+)?`$/.test(code)

/** A diff under review without the contents of such files; that they changed is still seen. */
export function withholdFromDiff(diff: string, more: readonly string[]): { diff: string; files: readonly string[] } {
  if (!/^(?:diff --git |--- )/m.test(diff)) return { diff, files: [] }
  const isSensitive = matcher(more)
  const files = new Set<string>()
  const kept: string[] = []
  let [hidden, before, after] = [false, 0, 0]
  const lines = diff.split('\n')
  for (const [index, raw] of lines.entries()) {
    const line = raw.replace(/\r$/, '')
    // The numbers of a hunk may lie: what cannot be a line of one ends it, and so does the head of another file.
    if (!/^(?:[ +\\-]|$)/.test(line) || isHeadOfFile(lines, index)) [before, after] = [0, 0]
    if (before > 0 || after > 0) {
      if (!line.startsWith('+') && !line.startsWith('\\')) before -= 1
      if (!line.startsWith('-') && !line.startsWith('\\')) after -= 1
      if (!hidden) kept.push(raw)
      continue
    }
    const hunk = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line)
    if (hunk !== null) {
      ;[before, after] = [Number(hunk[1] ?? 1), Number(hunk[2] ?? 1)]
      // The words after the second @@ are a line of the file, too.
      kept.push(hidden ? `${hunk[0]} ${withheld}` : raw)
      continue
    }
    const names = namesIn(line).filter(isSensitive)
    if (line.startsWith('diff --git ') || line.startsWith('--- ')) hidden = names.length > 0
    else if (names.length > 0) hidden = true
    for (const name of names) files.add(name)
    // Between two hunks of such a file, and in a binary patch, there is only content.
    if (!hidden || isHead(line)) kept.push(raw)
  }
  return { diff: kept.join('\n'), files: [...files] }
}

const isHeadOfFile = (lines: readonly string[], index: number): boolean =>
  lines[index]?.startsWith('--- ') === true &&
  lines[index + 1]?.startsWith('+++ ') === true &&
  /^@@ -\d/.test(lines[index + 2] ?? '')

const isHead = (line: string): boolean =>
  /^(?:diff |index |--- |\+\+\+ |(?:new|deleted) file|old mode|new mode|similarity|rename |copy |Binary files)/.test(
    line,
  )

function namesIn(line: string): string[] {
  const git = /^diff --git "?a\/(.*?)"? "?b\/(.*?)"?$/.exec(line)
  if (git !== null) return [git[1] ?? '', git[2] ?? '']
  const one = /^(?:---|\+\+\+) "?(?:[ab]\/)?(.*?)"?(?:\t.*)?$/.exec(line)
  return one === null ? [] : [one[1] ?? '']
}

function matcher(more: readonly string[]): (path: string) => boolean {
  const patterns = [...builtIn, ...more].map(compile)
  return (path) => !harmless.test(path) && patterns.some((pattern) => pattern.test(path))
}

/** Stars become one bounded class each, so that no pattern of a user's can take long. */
const compile = (pattern: string): RegExp =>
  new RegExp(
    `(?:^|/)${pattern
      .replace(/\*+/g, '*')
      .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '[^/]{0,100}')}$`,
    'i',
  )
