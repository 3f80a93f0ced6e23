const longest = 300

/** What a server or a program says, fit to stand in a sentence of ours: one printable line, without known secrets. */
export function quoteForeign(text: string, secrets: readonly string[]): string {
  const line = withoutSecrets(text.slice(0, 4_000), secrets)
    .replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]+/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .trim()
  return line.length > longest ? `${line.slice(0, longest - 1).trimEnd()}…` : line
}

/** A shorter one is a dummy that a local server is fed with, such as `ollama` or `none`, and would tear up the text. */
const shortestSecret = 12

export const withoutSecrets = (text: string, secrets: readonly string[]): string =>
  secrets
    .filter((secret) => secret.length >= shortestSecret)
    .reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text)
