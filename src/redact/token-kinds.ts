/** Keys and tokens that are recognised by their form. */
export type TokenKind = {
  readonly kind: string
  /** Group 1, where there is one, is the secret and ends the match. */
  readonly form: RegExp
  /** For text that was joined, where only the caller knows the beginnings of words, and one word may be all of it. */
  readonly splitForm: RegExp
  readonly only: Start
  /** A text without it is not searched, where each word could be the beginning. */
  readonly sign: string
}

/**
 * `word`: only where a word begins. `mixed`: and what follows the sign is no name made of words. `run`: only where a run of
 * letters, `-` and `_` begins, for a form that wants something behind the run and else would try each place.
 */
type Start = 'word' | 'mixed' | 'run' | 'anywhere'

/** Or behind what stands for another character: `\n` in quotes, `%3D`, `\u003d`, the colours of a terminal. */
const startBehind = (letters: string): string =>
  `(?:(?<!${letters})|(?<=\\\\[nrtbfv0]|(?:%|\\\\x)[0-9A-Fa-f]{2}|\\\\u[0-9A-Fa-f]{4}|\\u001b\\[[\\d;]{0,20}m))`

/** The lookbehind comes after the first letters, because they are found much faster. */
function atStart(form: string, letters: string): string {
  const head = /^(?:(?:\(\?:[^()]*\)|\[[^\]]*\]|\\.|[\w/-])(?![{*+?]))+/.exec(form)?.[0] ?? ''
  return `${head}(?<=${startBehind(letters)}${head})${form.slice(head.length)}`
}

/** No form repeats a repetition. */
const row = (kind: string, form: string, only: Start = 'anywhere', sign = ''): TokenKind => ({
  kind,
  form: new RegExp(only === 'anywhere' ? form : atStart(form, only === 'run' ? '[\\w-]' : '[A-Za-z0-9]'), 'g'),
  splitForm: new RegExp(form.replaceAll(',}', ',2000}').replace(/\(\?![^()]*\)$/, ''), 'g'),
  only,
  sign,
})

const any = '[A-Za-z0-9]'
const url = '[A-Za-z0-9_-]'
const b64 = '[A-Za-z0-9+/]'
const hex = '[0-9a-f]'
const dotted = `(?:\\.${url}{1,200}){0,2}`

/** Of two rows that find the same text, the first names it. Lengths are a little below the real ones. */
export const tokenKinds: readonly TokenKind[] = [
  // Models and their providers
  row('anthropic-key', `sk-ant-${url}{10,}`),
  row('openrouter-key', `sk-or-${url}{20,}`, 'mixed'),
  row('openai-key', `sk-(?:proj|svcacct|admin|None)-${url}{10,}`),
  row('openai-key', `sk-${url}{20,}`, 'mixed'),
  row('openai-session', `sess-${any}{40,}`, 'word'),
  row('hugging-face-token', `(?:hf|api_org)_${any}{30,}`, 'mixed'),
  row('replicate-token', `r8_${any}{32,}`, 'word'),
  row('groq-key', `gsk_${any}{40,}`),
  row('xai-key', `xai-${any}{60,}`, 'word'),
  row('perplexity-key', `pplx-${any}{40,}`),
  row('langsmith-key', `lsv2_(?:pt|sk)_${any}{30,}(?:_${any}{8,})?`),
  row('databricks-token', `(?:dapi|dkea|dose)${hex}{32}(?:-\\d)?`, 'word'),
  // Clouds
  row('aws-secret-key', `A[KS]IA[A-Z0-9]{16}["'\\s,:;|]{1,8}(${b64}{40})(?!${b64})`),
  row('aws-access-key', 'A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}', 'word'),
  row('aws-bedrock-key', `(?:ABSK|bedrock-api-key-)${b64}{80,}={0,2}`, 'word'),
  row('google-key', `AIza${url}{30,}`),
  row('google-client-secret', `GOCSPX-${url}{20,}`),
  row('google-access-token', `ya29\\.${url}{20,}`, 'word'),
  row('google-refresh-token', `1//0${url}{30,}`, 'word'),
  row('firebase-key', `${url}{7,24}:APA91b${url}{80,}`, 'word', ':APA91b'),
  row('azure-client-secret', '[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{28,40}'),
  row('azure-key', `(?<!${b64})${b64}{32,}(?:AzFu|AzCa|AzSe|\\+ASt|\\+ACR)${b64}{4,}={0,2}`, 'anywhere'),
  row('azure-key', `(?:Account|SharedAccess)Key=(${b64}{40,}={0,2})`),
  row('azure-signature', '[?&;]sig=([A-Za-z0-9%/+]{32,}={0,2})'),
  row('azure-devops-token', `${any}{70,80}AZDO${any}{4}`, 'word', 'AZDO'),
  row('alibaba-key', `LTAI${any}{12,24}`, 'mixed'),
  row('tencent-key', `AKID${any}{28,34}`, 'mixed'),
  row('digitalocean-token', `do[por]_v1_${any}{40,}`),
  row('digitalocean-key', 'DO00[A-Z0-9]{16}', 'word'),
  row('heroku-key', `HRKU-${url}{20,}`),
  row('cloudflare-token', `cf(?:ut|at|k)_${any}{36,}`),
  row('cloudflare-origin-key', `v1\\.0-${hex}{24}-${hex}{100,}`),
  row('vercel-token', `vc[piark]_${url}{24,}`, 'mixed'),
  row('vercel-blob-token', 'vercel_blob_rw_\\w{30,}'),
  row('netlify-token', `nf[pcobu]_${any}{30,}`),
  row('supabase-token', `(?:sbp_(?:oauth_|v0_)?${any}{36,}|sb_secret_${url}{20,})`),
  row('neon-key', `napi_${any}{50,}`),
  row('planetscale-token', 'pscale_(?:tkn|pw|oauth|app_secret)_[A-Za-z0-9_.=-]{30,}'),
  row('fly-token', `(?:FlyV1 fm\\d[ar]?_[A-Za-z0-9+/=,_-]{60,}|fo1_${url}{40,})`),
  row('render-key', `rnd_${any}{28,}`, 'mixed'),
  row('pulumi-token', `pul-${hex}{40}`, 'word'),
  row('tailscale-key', 'tskey-[a-z]{2,12}-[A-Za-z0-9-]{12,}'),
  // Code, packages and what builds them
  row('github-token', `gh[pousr]_\\w{30,}${dotted}`),
  row('github-token', 'github_pat_\\w{30,}'),
  row(
    'gitlab-token',
    `(?:gl(?:pat|dt|rt|rtr|ptt|ft|imt|agent|oas|soat|ffct|cbt)-${url}{16,}${dotted}|GR1348941${url}{16,})`,
  ),
  row('bitbucket-token', `AT(?:BB|RT)${any}{24,}(?:=[A-F0-9]{8})?`, 'mixed'),
  row('npm-token', `npm_${any}{30,}`, 'mixed'),
  row('npmrc-token', '_(?:authToken|auth|password)[ \\t]*=[ \\t]*["\']?([\\w+/=.:-]{8,})'),
  row('pypi-token', `pypi-${url}{32,}`, 'mixed'),
  row('rubygems-key', `rubygems_${any}{40,}`),
  row('crates-token', `cio${any}{32}`, 'mixed'),
  row('nuget-key', 'oy2[a-z0-9]{43}', 'word'),
  row('docker-token', `dckr_[po]at_${url}{20,}`),
  row('jfrog-token', `(?:AKCp${any}{60,}|cmVmd${any}{50,})`, 'word'),
  row('circleci-token', 'CCIP(?:AT|RJ)_\\w{40,}'),
  row('buildkite-token', `bk(?:ua|aj|at)_${any}{36,}`),
  row('sonar-token', `sq[upa]_${hex}{40}`),
  row('sourcegraph-token', `sgp_(?:${any}{16}_|local_)?${hex}{40}`),
  row('snyk-token', 'snyk_(?:uat|sat)\\.[0-9a-f]{8}\\.[\\w.-]{40,}'),
  row('postman-key', `PMAK-${hex}{24}-${hex}{30,}`),
  // Secrets managers
  row('vault-token', `hv[sbr]\\.${url}{20,}`, 'word'),
  row('vault-token', `[sbr]\\.(?=\\w{0,23}\\d)(?=\\w{0,23}[A-Z])(?=\\w{0,23}[a-z])${any}{24}(?!\\w)`, 'word'),
  row('terraform-token', `${any}{14}\\.atlasv1\\.[\\w=-]{40,}`, 'word', '.atlasv1.'),
  row('doppler-token', 'dp\\.(?:pt|st|ct|sa|scim|audit)\\.[\\w.-]{30,}'),
  row('infisical-token', `st\\.${hex}{24}\\.${hex}{32}\\.${hex}{32}`, 'word'),
  row('onepassword-token', 'ops_eyJ[\\w+/-]{60,}={0,3}'),
  row('onepassword-key', 'A3-[A-Z0-9]{6}-[A-Z0-9]{6,11}(?:-[A-Z0-9]{5}){3,4}', 'word'),
  row('age-key', 'AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{50,}'),
  // Messages and mail
  row('slack-token', 'xox[a-eoprs][-.][\\w.%/+-]{10,}', 'word'),
  row('slack-token', `x(?:app|wfp)-\\d-?${url}{20,}`),
  row('slack-webhook', 'hooks\\.slack\\.com\\\\?/(?:services|workflows|triggers)\\\\?/([\\w/\\\\-]{20,})'),
  row('teams-webhook', 'webhook\\.office\\.com/webhookb2/([\\w@/-]{60,})'),
  row('discord-webhook', `/api/webhooks/\\d{15,22}/(${url}{40,})`),
  row('discord-token', `[MNO]${url}{22,27}\\.${url}{6}\\.${url}{27,}`, 'word'),
  row('telegram-token', `\\d{8,11}:${url}{33,35}(?!${url})`, 'mixed'),
  row('twilio-key', `(?:SK|AC)${hex}{32}`, 'word'),
  row('sendgrid-key', `SG\\.${url}{16,}\\.${url}{16,}`, 'word'),
  row('mailgun-key', `key-${any}{32}`, 'mixed'),
  row('mailgun-key', `${hex}{32}-${hex}{8}-${hex}{8}`, 'word'),
  row('mailchimp-key', `${hex}{32}-us\\d{1,2}`, 'anywhere', '-us'),
  row('brevo-key', `x(?:key|smtp)sib-${any}{60,}-${any}{16}`),
  // Money and shops
  row('stripe-key', `[sr]k_(?:live|test|prod)_${any}{10,}`),
  row('stripe-webhook-secret', `whsec_${b64}{20,}={0,2}`),
  row('shopify-token', `shp(?:at|ca|pa|ss|ua|tka)_${any}{30,}`),
  row('square-token', `sq[0O](?:atp|csp)-${url}{20,}`),
  row('square-token', `EAAA(?!\\w{0,60}AAAAAA)${url}{56,}`, 'word'),
  row('braintree-token', 'access_token\\$(?:production|sandbox)\\$[0-9a-z]{16}\\$[0-9a-f]{32}'),
  // Work and monitoring
  row('linear-key', `lin_(?:api|oauth)_${any}{32,}`),
  row('notion-token', `(?:secret|ntn)_${any}{40,}`),
  row('figma-token', `fig[dou]r?_${url}{30,}`),
  row('atlassian-token', 'AT[ACO]TT3[\\w=-]{40,}'),
  row('asana-token', `[12]/\\d{15,17}(?:/\\d{15,17})?:${hex}{32}`),
  row('airtable-token', `pat${any}{14}\\.${hex}{64}`),
  row('dropbox-token', `sl\\.(?:u\\.)?${url}{60,}`, 'word'),
  row('contentful-token', `CFPAT-${url}{40,}`),
  row('grafana-token', `gl(?:sa|c)_[\\w+/=-]{20,}`, 'word'),
  row('grafana-key', `eyJrIjoi${b64}{40,}={0,2}`),
  row('sentry-token', 'sntry[su]_[\\w=+/-]{30,}'),
  row('sentry-dsn', '://([0-9a-f]{32}(?::[0-9a-f]{32})?)(?=@[A-Za-z0-9.-]{0,80}sentry)'),
  row('new-relic-key', `NR(?:AK|JS|II|IQ|RA|SP|AA)-${url}{16,}`),
  row('new-relic-key', `${hex}{36}NRAL`, 'word', 'NRAL'),
  row('dynatrace-token', 'dt0[a-z]\\d{2}\\.[A-Z0-9]{8,24}\\.[A-Z0-9]{64}'),
  row('posthog-key', `phx_${any}{40,}`),
  row('launchdarkly-key', `(?:api|sdk)-${hex}{8}-${hex}{4}-4${hex}{3}-${hex}{4}-${hex}{12}`, 'word'),
  row('facebook-token', `EAA[BCGM]${any}{80,}`, 'mixed'),
  row('twitter-token', '(?<![A-Za-z0-9])A{21,24}[B-Za-z0-9][A-Za-z0-9]{10,80}%[A-Za-z0-9%]{20,}'),
  // Sessions
  row('jwt', `eyJ${url}{8,}\\.eyJ${url}{4,}(?:\\.${url}*)?`, 'run'),
  row('jwt', `eyJ${url}{8,}\\.${url}*\\.${url}{8,}\\.${url}{8,}\\.${url}{8,}`, 'run'),
]
