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
