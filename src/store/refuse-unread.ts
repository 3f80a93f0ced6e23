import { StoreError } from './store-error.ts'

/** A file that is there and cannot be read is not gone, and nothing may follow from its absence. */
export function throwIfUnreadable(path: string, read: { readonly kind: string; readonly errno?: string }): void {
  if (read.kind === 'refused' && read.errno !== undefined) throw new StoreError(path, `cannot be read (${read.errno})`)
}
