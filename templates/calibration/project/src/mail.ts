import { formatCents } from './prices.ts'

/** `to` is the id of a customer: the service knows the addresses. False where it did not take the mail. */
export async function sendReceipt(
  url: string,
  to: string,
  order: { id: string; totalCents: number },
): Promise<boolean> {
  try {
    const body = {
      to,
      subject: `Your order ${order.id}`,
      text: `Thank you. You paid ${formatCents(order.totalCents)}.`,
    }
    const response = await fetch(url, {
      method: 'POST',
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(3_000),
    })
    return response.ok
  } catch {
    return false
  }
}
