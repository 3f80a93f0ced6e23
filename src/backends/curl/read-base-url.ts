export type BaseUrl =
  | { readonly kind: 'base'; readonly url: URL }
  | { readonly kind: 'refused'; readonly why: string; readonly nextStep: string }

const openAi = 'https://api.openai.com/v1'

/** OPENAI_BASE_URL as OpenAI's own clients read it: a path is taken as it is, and a bare host means its /v1. */
export function readBaseUrl(configured: string | undefined): BaseUrl {
  const text = configured?.trim() ?? ''
  const url = parseUrl(text === '' ? openAi : text)
  if (url === null) return refused('is not an address')
  if (url.username !== '' || url.password !== '') return refused('holds a user name or a password')
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    return refused(`is not encrypted (http://${url.host}), so the key could be read on the way`)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refused('does not begin with https://')
  const path = url.pathname.replace(/\/+$/, '')
  url.pathname = path === '' ? '/v1' : path
  url.hash = ''
  return { kind: 'base', url }
}

/** A query, such as the api-version of some gateways, stays. */
export function endpointOf(base: URL, path: 'chat/completions' | 'responses'): URL {
  const url = new URL(base)
  url.pathname = `${base.pathname}/${path}`
  return url
}

function parseUrl(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}

/** The URL parser has written every spelling of an IPv4 address as four numbers. */
const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host)

const refused = (flaw: string): BaseUrl => ({
  kind: 'refused',
  why: `OPENAI_BASE_URL ${flaw}.`,
  nextStep:
    'Set OPENAI_BASE_URL to an address such as https://gateway.example/v1 (http only for localhost), or unset it.',
})
