/** The finding that a reviewer means; null where there is none of this id. Models write ` f3` and `[F3]` for F3. */
export function earlierId(written: string | null, known: ReadonlySet<string>): string | null {
  const id = /^\W{0,3}(F\d{1,9})\W{0,3}$/i.exec(written ?? '')?.[1]?.toUpperCase() ?? null
  return id !== null && known.has(id) ? id : null
}
