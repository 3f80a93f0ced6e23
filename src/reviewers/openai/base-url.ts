import type { Route } from '../route-table.ts'

/** Where a server that speaks OpenAI's API is, and whether a text and a key may be sent there. */
export type BaseUrl =
  | { readonly kind: 'base'; readonly url: URL }
  /** `flaw` goes on after the name of the setting: "is not an address". */
  | { readonly kind: 'refused'; readonly flaw: string }

/** As OpenAI's own clients read it: a path is taken as it is, and a bare host means its /v1. */
export function readBaseUrl(configured: string | undefined, allowHttp = false): BaseUrl {
  const text = configured?.trim() || 'https://api.openai.com/v1'
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null) return refused('is not an address')
  if (url.username !== '' || url.password !== '') return refused('holds a user name or a password')
  if (url.hash !== '' || [...url.searchParams].some(([name, value]) => name !== 'api-version' || !isVersion(value)))
    return refused('has a query that is not api-version=…, and could hold a key')
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refused('does not begin with https://')
  if (!allowHttp && isReadableOnTheWay(url))
    return refused(`is not encrypted (http://${url.host}), so the text and the key could be read on the way`)
  const path = url.pathname.replace(/\/+$/, '')
  url.pathname = path === '' ? '/v1' : path
  return { kind: 'base', url }
}

/** Of Azure: a date, or a word for one. */
const isVersion = (value: string): boolean => /^(?:\d{4}-\d{2}-\d{2}(?:-preview)?|preview|latest|v\d)$/.test(value)

/** Of a row with backend curl; null: OpenAI's, because nothing names another. */
export function serverHost(endpoint: Route['endpoint'], { OPENAI_BASE_URL }: NodeJS.ProcessEnv): string | null {
  const address = endpoint?.baseUrl ?? OPENAI_BASE_URL?.trim() ?? ''
  if (address === '') return null
  const base = readBaseUrl(address, endpoint?.allowHttp)
  return base.kind === 'base' ? base.url.host : `an address that ${base.flaw}`
}

const refused = (flaw: string): BaseUrl => ({ kind: 'refused', flaw })

export const isReadableOnTheWay = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && !isLoopback(hostname)

/** The URL parser has normalised every spelling of an IPv4 address. */
const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host)

/** Regions have hosts of their own, such as eu.api.openai.com. */
export const isOpenai = ({ hostname }: URL): boolean => /^(?:\w+\.)?api\.openai\.com$/.test(hostname)

export const isAzure = ({ hostname }: URL): boolean =>
  /\.(?:openai|services\.ai|cognitiveservices)\.azure\.(?:com|us)$/.test(hostname)

/** Azure has a header of its own for its keys; its tokens, which are JWTs, go as everybody's keys do. */
export function keyHeaders(url: URL, key: string | null): { [name: string]: string } {
  if (key === null) return {}
  const isToken = /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/.test(key)
  return isAzure(url) && !isToken ? { 'api-key': key } : { authorization: `Bearer ${key}` }
}
