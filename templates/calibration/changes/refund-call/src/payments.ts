export type Charged =
  | { readonly kind: 'charged' }
  | { readonly kind: 'declined' }
  | { readonly kind: 'unknown'; readonly why: string }

/** The order's id is the idempotency key: the service charges an order once, however often it is asked. */
export async function charge(url: string, key: string, order: { id: string; totalCents: number }): Promise<Charged> {
  try {
    const response = await fetch(`${url}/charges`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'idempotency-key': order.id },
      body: JSON.stringify({ amount: order.totalCents, currency: 'EUR' }),
      signal: AbortSignal.timeout(5_000),
    })
    if (response.status === 402) return { kind: 'declined' }
    return response.ok ? { kind: 'charged' } : { kind: 'unknown', why: `status ${response.status}` }
  } catch (error) {
    return { kind: 'unknown', why: String(error) }
  }
}

export type Refunded =
  | { readonly kind: 'refunded' }
  | { readonly kind: 'not-charged' }
  | { readonly kind: 'unknown'; readonly why: string }

/** The whole amount; asked again, the service pays once. */
export async function refund(url: string, key: string, order: { id: string; totalCents: number }): Promise<Refunded> {
  if (!Number.isInteger(order.totalCents) || order.totalCents <= 0) throw new RangeError('the amount is not positive')
  const abort = new AbortController()
  const timer = setTimeout(() => abort.abort(), 5_000)
  try {
    const response = await fetch(`${url}/refunds`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'idempotency-key': order.id },
      body: JSON.stringify({ amount: order.totalCents }),
      signal: abort.signal,
    })
    if (response.status === 409) return { kind: 'not-charged' }
    return response.ok ? { kind: 'refunded' } : { kind: 'unknown', why: `status ${response.status}` }
  } catch (error) {
    return { kind: 'unknown', why: String(error) }
  } finally {
    clearTimeout(timer)
  }
}
