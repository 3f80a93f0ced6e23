/** Windows paths in the form that the gate compares. */
export const slashed = (path: string): string => (process.platform === 'win32' ? path.replaceAll('\\', '/') : path)
