/** In hex. Loads `node:crypto` (2 ms) only when called. */
export const sha256 = (bytes: string | Uint8Array): string =>
  process.getBuiltinModule('node:crypto').hash('sha256', bytes)
