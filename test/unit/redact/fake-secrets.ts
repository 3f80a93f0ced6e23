/** Secrets that look real and open nothing: drawn from alphabets, so that no scanner finds one in these files. */
export type FakeSecret = {
  readonly kind: string
  readonly secret: string
  /** How it stands in a text. Without this, its form alone gives it away. */
  readonly within: (secret: string) => string
  /** What a variable that holds it is called. */
  readonly name: string
}

const lower = 'abcdefghijklmnopqrstuvwxyz'
const upper = lower.toUpperCase()
const digits = '0123456789'
const hex = '0123456789abcdef'
const any = lower + upper + digits
const url = `${any}_-`
const base64 = `${any}+/`

/** The same draws in each run. */
export function makeDraw(seed: number): (alphabet: string, length: number) => string {
  let state = seed
  const next = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  return (alphabet, length) => {
    const drawn = Array.from({ length }, () => alphabet.charAt(next(alphabet.length)))
    // A word by accident is no test of anything: the first characters come from each class that there is.
    const classes = [lower, upper, digits].filter((one) => Array.from(one).some((each) => alphabet.includes(each)))
    for (const [index, one] of classes.entries()) {
      const fitting = Array.from(one).filter((each) => alphabet.includes(each))
      if (length > 12) drawn[index * 4 + 1] = fitting[next(fitting.length)] ?? ''
    }
    return drawn.join('')
  }
}

const plain = (secret: string): string => secret

export function fakeSecrets(seed: number): readonly FakeSecret[] {
  const draw = makeDraw(seed)
  const row = (kind: string, name: string, secret: string, within: FakeSecret['within'] = plain): FakeSecret => ({
    kind,
    name,
    secret,
    within,
  })
  /** Known by its name alone. */
  const named = (kind: string, name: string, secret: string): FakeSecret =>
    row(kind, name, secret, (value) => `${name}=${value}`)
  const json = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const jwt = `${json({ alg: 'HS256', typ: 'JWT' })}.${json({ sub: draw(digits, 10), iat: 1 })}.${draw(url, 43)}`
  return [
    row('openai-key', 'OPENAI_API_KEY', `sk-${draw(any, 48)}`),
    row('openai-key', 'OPENAI_KEY', `sk-proj-${draw(url, 74)}T3Blbk${'FJ'}${draw(url, 74)}`),
    row('openai-key', 'OPENAI_KEY', `sk-svcacct-${draw(url, 60)}`),
    row('openai-key', 'OPENAI_ADMIN_KEY', `sk-admin-${draw(url, 60)}`),
    row('anthropic-key', 'ANTHROPIC_API_KEY', `sk-ant-api03-${draw(url, 93)}AA`),
    row('anthropic-key', 'CLAUDE_CODE_OAUTH_TOKEN', `sk-ant-oat01-${draw(url, 86)}`),
    row('openrouter-key', 'OPENROUTER_API_KEY', `sk-or-v1-${draw(hex, 64)}`),
    row('hugging-face-token', 'HF_TOKEN', `hf_${draw(lower + upper, 34)}`),
    row('replicate-token', 'REPLICATE_API_TOKEN', `r8_${draw(any, 37)}`),
    row('groq-key', 'GROQ_API_KEY', `gsk_${draw(any, 52)}`),
    row('xai-key', 'XAI_API_KEY', `xai-${draw(any, 80)}`),
    row('perplexity-key', 'PERPLEXITY_API_KEY', `pplx-${draw(any, 48)}`),
    row('databricks-token', 'DATABRICKS_TOKEN', `dapi${draw(hex, 32)}`),
    row('aws-access-key', 'AWS_ACCESS_KEY_ID', `AKIA${draw(upper + digits, 16)}`),
    row('aws-access-key', 'AWS_ACCESS_KEY_ID', `ASIA${draw(upper + digits, 16)}`),
    named('api-key', 'aws_secret_access_key', draw(base64, 40)),
    named('token', 'AWS_SESSION_TOKEN', `IQoJb3JpZ2luX2Vj${draw(base64, 200)}==`),
    row('google-key', 'GOOGLE_API_KEY', `AIza${draw(url, 35)}`),
    row('google-client-secret', 'GOOGLE_CLIENT_SECRET', `GOCSPX-${draw(url, 28)}`),
    row('google-access-token', 'GOOGLE_ACCESS_TOKEN', `ya29.${draw(url, 120)}`),
    row(
      'azure-key',
      'AZURE_STORAGE_CONNECTION_STRING',
      `${draw(base64, 86)}==`,
      (key) => `AccountName=x;AccountKey=${key};`,
    ),
    row('azure-client-secret', 'AZURE_CLIENT_SECRET', `${draw(any, 3)}8Q~${draw(any, 34)}`),
    row('digitalocean-token', 'DIGITALOCEAN_TOKEN', `dop_v1_${draw(hex, 64)}`),
    row('heroku-key', 'HEROKU_API_KEY', `HRKU-AA${draw(url, 58)}`),
    named('api-key', 'HEROKU_API_KEY', uuid(draw)),
    row('cloudflare-token', 'CLOUDFLARE_API_TOKEN', `cfut_${draw(any, 48)}`),
    named('token', 'CLOUDFLARE_API_TOKEN', draw(any, 40)),
    row('vercel-token', 'VERCEL_TOKEN', `vcp_${draw(any, 56)}`),
    row('netlify-token', 'NETLIFY_AUTH_TOKEN', `nfp_${draw(any, 36)}`),
    row('supabase-token', 'SUPABASE_ACCESS_TOKEN', `sbp_${draw(hex, 40)}`),
    row('supabase-token', 'SUPABASE_SECRET_KEY', `sb_secret_${draw(url, 31)}`),
    row('planetscale-token', 'PLANETSCALE_TOKEN', `pscale_tkn_${draw(any, 43)}`),
    row('pulumi-token', 'PULUMI_ACCESS_TOKEN', `pul-${draw(hex, 40)}`),
    row('github-token', 'GITHUB_TOKEN', `ghp_${draw(any, 36)}`),
    row('github-token', 'GH_TOKEN', `gho_${draw(any, 36)}`),
    row('github-token', 'GH_TOKEN', `ghu_${draw(any, 36)}`),
    row('github-token', 'GH_TOKEN', `ghs_${draw(any, 36)}`),
    row('github-token', 'GH_TOKEN', `ghr_${draw(any, 36)}`),
    row('github-token', 'GITHUB_PAT', `github_pat_${draw(any, 22)}_${draw(any, 59)}`),
    row('gitlab-token', 'GITLAB_TOKEN', `glpat-${draw(url, 20)}`),
    row('gitlab-token', 'GITLAB_RUNNER_TOKEN', `glrt-${draw(url, 20)}`),
    row('bitbucket-token', 'BITBUCKET_TOKEN', `ATBB${draw(any, 32)}`),
    row('npm-token', 'NPM_TOKEN', `npm_${draw(any, 36)}`),
    row('npmrc-token', 'NPM_AUTH', draw(hex, 36), (token) => `//registry.example/:_authToken=${token}`),
    row('pypi-token', 'PYPI_TOKEN', `pypi-AgEIcHlwaS5vcmc${draw(url, 120)}`),
    row('rubygems-key', 'GEM_HOST_API_KEY', `rubygems_${draw(hex, 48)}`),
    row('crates-token', 'CARGO_REGISTRY_TOKEN', `cio${draw(any, 32)}`),
    row('docker-token', 'DOCKERHUB_TOKEN', `dckr_pat_${draw(url, 27)}`),
    row('circleci-token', 'CIRCLE_TOKEN', `CCIPAT_${draw(any, 22)}_${draw(hex, 40)}`),
    row('postman-key', 'POSTMAN_API_KEY', `PMAK-${draw(hex, 24)}-${draw(hex, 34)}`),
    row('vault-token', 'VAULT_TOKEN', `hvs.${draw(url, 90)}`),
    row('terraform-token', 'TFE_TOKEN', `${draw(any, 14)}.atlasv1.${draw(url, 67)}`),
    row('doppler-token', 'DOPPLER_TOKEN', `dp.pt.${draw(any, 43)}`),
    row('age-key', 'AGE_KEY', `AGE-SECRET-KEY-1${draw('QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L', 58)}`),
    row('slack-token', 'SLACK_BOT_TOKEN', `xoxb-${draw(digits, 12)}-${draw(digits, 12)}-${draw(any, 24)}`),
    row('slack-token', 'SLACK_USER_TOKEN', `xoxp-${draw(digits, 12)}-${draw(digits, 12)}-${draw(hex, 32)}`),
    row('slack-token', 'SLACK_APP_TOKEN', `xapp-1-A${draw(upper + digits, 10)}-${draw(digits, 13)}-${draw(hex, 64)}`),
    row(
      'slack-webhook',
      'SLACK_WEBHOOK',
      `T${draw(upper + digits, 8)}/B${draw(upper + digits, 8)}/${draw(any, 24)}`,
      (path) => `https://hooks.slack.com/services/${path}`,
    ),
    row(
      'discord-webhook',
      'DISCORD_WEBHOOK',
      draw(url, 68),
      (token) => `https://discord.com/api/webhooks/123456789012345678/${token}`,
    ),
    row('discord-token', 'DISCORD_TOKEN', `M${draw(any, 23)}.${draw(url, 6)}.${draw(url, 38)}`),
    row('telegram-token', 'TELEGRAM_BOT_TOKEN', `${draw('123456789', 10)}:AA${draw(url, 33)}`),
    row('twilio-key', 'TWILIO_API_KEY', `SK${draw(hex, 32)}`),
    named('token', 'TWILIO_AUTH_TOKEN', draw(hex, 32)),
    row('sendgrid-key', 'SENDGRID_API_KEY', `SG.${draw(url, 22)}.${draw(url, 43)}`),
    row('mailgun-key', 'MAILGUN_API_KEY', `key-${draw(hex, 32)}`),
    row('mailchimp-key', 'MAILCHIMP_API_KEY', `${draw(hex, 32)}-us12`),
    row('stripe-key', 'STRIPE_SECRET_KEY', `sk_${'live'}_${draw(any, 24)}`),
    row('stripe-key', 'STRIPE_KEY', `rk_${'test'}_${draw(any, 99)}`),
    row('stripe-webhook-secret', 'STRIPE_WEBHOOK_SECRET', `whsec_${draw(any, 32)}`),
    row('shopify-token', 'SHOPIFY_TOKEN', `shpat_${draw(hex, 32)}`),
    row('square-token', 'SQUARE_ACCESS_TOKEN', `sq0atp-${draw(url, 22)}`),
    row('square-token', 'SQUARE_ACCESS_TOKEN', `EAAA${draw(url, 60)}`),
    row('braintree-token', 'BRAINTREE_TOKEN', `access_token$production$${draw(lower + digits, 16)}$${draw(hex, 32)}`),
    named('secret', 'PAYPAL_CLIENT_SECRET', `E${draw(url, 79)}`),
    row('linear-key', 'LINEAR_API_KEY', `lin_api_${draw(any, 40)}`),
    row('notion-token', 'NOTION_TOKEN', `ntn_${draw(any, 46)}`),
    row('notion-token', 'NOTION_TOKEN', `secret_${draw(any, 43)}`),
    row('figma-token', 'FIGMA_TOKEN', `figd_${draw(url, 40)}`),
    row('atlassian-token', 'ATLASSIAN_TOKEN', `ATATT3xFfGF0${draw(url, 180)}`),
    row('grafana-token', 'GRAFANA_TOKEN', `glsa_${draw(any, 32)}_${draw(hex, 8)}`),
    row('sentry-token', 'SENTRY_AUTH_TOKEN', `sntrys_${draw(any, 90)}`),
    row('sentry-dsn', 'SENTRY_URL', draw(hex, 32), (key) => `https://${key}@o447951.ingest.sentry.io/5429219`),
    row('new-relic-key', 'NEW_RELIC_API_KEY', `NRAK-${draw(upper + digits, 27)}`),
    named('api-key', 'DD_API_KEY', draw(hex, 32)),
    named('api-key', 'DD_APP_KEY', draw(hex, 40)),
    row('jwt', 'SUPABASE_SERVICE_ROLE', jwt),
    row('authorization', 'HEADER', draw(url, 40), (token) => `Authorization: Bearer ${token}`),
    row(
      'authorization',
      'HEADER',
      Buffer.from(`user:${draw(any, 14)}`).toString('base64'),
      (pair) => `Authorization: Basic ${pair}`,
    ),
    row('session', 'HEADER', draw(any, 32), (id) => `Cookie: theme=dark; sessionid=${id}; lang=en`),
    row('session', 'HEADER', draw(lower + digits, 26), (id) => `Set-Cookie: PHPSESSID=${id}; Path=/; HttpOnly`),
    row('url-password', 'REPO_URL', draw(any, 14), (password) => `https://deploy:${password}@git.example.org/x.git`),
    row(
      'url-password',
      'DATABASE_URL',
      draw(any, 16),
      (password) => `postgres://app:${password}@db.example.org:5432/app`,
    ),
    row('url-password', 'REDIS_URL', draw(any, 20), (password) => `redis://:${password}@cache.example.org:6379/0`),
    row('password', 'NETRC', draw(any, 15), (password) => `machine example.org login me password ${password}`),
    named('password', 'DB_PASSWORD', draw(any, 12)),
    named('secret', 'SESSION_SECRET', draw(hex, 48)),
    named('api-key', 'INTERNAL_API_KEY', draw(any, 32)),
    named('token', 'DEPLOY_TOKEN', draw(any, 24)),
  ]
}

const uuid = (draw: ReturnType<typeof makeDraw>): string =>
  [8, 4, 4, 4, 12].map((length) => draw(hex, length)).join('-')

const dashes = '-----'

/** Private keys in each armour. The bodies are no keys. */
export function fakeKeyBlocks(
  seed: number,
): readonly { readonly label: string; readonly block: string; readonly lines: readonly string[] }[] {
  const draw = makeDraw(seed)
  const body = (width: number, count: number): string[] => [
    ...Array.from({ length: count }, () => draw(base64, width)),
    `${draw(base64, 22)}==`,
  ]
  const armoured = (label: string, width = 64, head: readonly string[] = []) => {
    const lines = body(width, 12)
    const block = [`${dashes}BEGIN ${label}${dashes}`, ...head, ...lines, `${dashes}END ${label}${dashes}`].join('\n')
    return { label, block, lines }
  }
  const putty = body(64, 8)
  return [
    armoured('PRIVATE KEY'),
    armoured('RSA PRIVATE KEY'),
    armoured('EC PRIVATE KEY'),
    armoured('DSA PRIVATE KEY'),
    armoured('OPENSSH PRIVATE KEY', 70),
    armoured('ENCRYPTED PRIVATE KEY'),
    {
      ...armoured('RSA PRIVATE KEY', 64, [
        'Proc-Type: 4,ENCRYPTED',
        `DEK-Info: AES-128-CBC,${draw('0123456789ABCDEF', 32)}`,
        '',
      ]),
      label: 'RSA, with headers',
    },
    armoured('PGP PRIVATE KEY BLOCK', 64, ['Version: x 1.0', '']),
    {
      label: 'PuTTY',
      block: [
        'PuTTY-User-Key-File-3: ssh-rsa',
        'Encryption: none',
        'Comment: me@example.org',
        `Private-Lines: ${putty.length}`,
        ...putty,
        `Private-MAC: ${draw(hex, 64)}`,
      ].join('\n'),
      lines: putty,
    },
  ]
}
