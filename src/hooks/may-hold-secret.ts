import { loadBundle } from '../system/load-bundle.ts'

/** For what a hook keeps: a text that may hold a secret is not kept at all. */
export async function mayHoldSecret(text: string): Promise<boolean> {
  if (!secretHint.test(text.replaceAll(ownWord, ''))) return false
  try {
    const { reviews } = await loadBundle<{ reviews: typeof import('../redact/redact.ts') }>('reviews')
    const redaction = reviews.makeRedactor([]).text(text)
    return redaction.kind === 'failed' || redaction.count > 0
  } catch {
    return true
  }
}

export const withheld = '(not kept: it may hold a secret)'

/** Stands in our own reasons. */
const ownWord = 'CLAUDE_CODE_SHELL_PREFIX'

/** Cheap, and wider than what redaction finds, which is loaded only then: a denial has to be quick. */
const secretHint = new RegExp(
  [
    '(?=[\\w+=-]{0,40}(?:\\d|[a-z][A-Z]|[A-Z]{2}|[+=]))[\\w+=-]{15}|REDACTED|PRIVATE|[Bb]earer|[Bb]asic|login|mysql|redis-cli',
    '\\s(?:-u|--user|--proxy-user)[ \\t=]|:\\S*@',
    '(?:[Pp]ass|PASS|[Pp]wd|PWD|[Ss]ecret|SECRET|[Tt]oken|TOKEN|[Kk]ey|KEY)\\S*\\s*[,"\'`(:=> |?!+]',
    '(?:[Aa]uth|AUTH|[Cc]red|CRED|[Cc]ookie|[Ss]ess|SESS|jwt|JWT|mnemonic|sid|SID|connection|_pat|_PAT|_dsn|_DSN)\\S*\\s*["\'`(:=>|?!+]',
  ].join('|'),
)
