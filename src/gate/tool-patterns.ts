import picomatch from 'picomatch'

/**
 * `gate.tools.allow` as regular expressions, compiled with the configuration so that the gate needs no glob library.
 */
export const compileToolPatterns = (patterns: readonly string[]): string[] =>
  patterns.map((pattern) => picomatch.makeRe(pattern, { nonegate: true }).source)
