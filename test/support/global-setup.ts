import { ensureClients } from './claude-clients.ts'

/** The tests that need a real client fail by themselves when it cannot be installed; the others need not. */
export default async function setup(): Promise<void> {
  await ensureClients().catch((error: unknown) => {
    console.warn(`The real clients could not be installed, so tests that run them will fail.\n${String(error)}`)
  })
}
