import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Writes texts where only this user can read them, for as long as an act lasts. */
export async function withPrivateFiles<Name extends string, T>(
  scratch: string | null,
  texts: { readonly [name in Name]: string },
  act: (pathOf: (name: Name) => string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(scratch ?? tmpdir(), 'plan-gate-ask-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  process.once('exit', remove)
  try {
    for (const [name, text] of Object.entries<string>(texts))
      writeFileSync(join(folder, name), text, { mode: 0o600, flag: 'wx' })
    return await act((name) => join(folder, name))
  } finally {
    process.off('exit', remove)
    remove()
  }
}
