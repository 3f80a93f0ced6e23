import { z } from 'zod'
import type { Line } from './prices.ts'

const linesSchema = z.object({
  lines: z
    .array(
      z.object({ sku: z.string().min(1), quantity: z.number().int().positive(), unitCents: z.number().int().min(0) }),
    )
    .min(1)
    .max(100),
})

/** null where the body is no order. */
export function parseLines(body: unknown): readonly Line[] | null {
  const parsed = linesSchema.safeParse(body)
  return parsed.success ? parsed.data.lines : null
}
