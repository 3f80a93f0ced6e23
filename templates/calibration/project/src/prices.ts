export type Line = { readonly sku: string; readonly quantity: number; readonly unitCents: number }

/** In cents, as all amounts here. */
export const totalCents = (lines: readonly Line[]): number =>
  lines.reduce((sum, { quantity, unitCents }) => sum + quantity * unitCents, 0)

/** Ten percent from 100 euros on, rounded in favour of the customer. */
export function discountCents(total: number): number {
  return total >= 100_00 ? Math.ceil(total / 10) : 0
}

export const formatCents = (cents: number): string => `${(cents / 100).toFixed(2)} EUR`
