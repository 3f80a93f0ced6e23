/** In hex. `node:crypto` costs 2 ms to load, which a call of the gate that hashes nothing need not pay. */
export const sha256 = (bytes: string | Uint8Array): string =>
  process.getBuiltinModule('node:crypto').createHash('sha256').update(bytes).digest('hex')
