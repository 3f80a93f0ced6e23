/** `bun read.mjs <file>`: a JSON list of YAML texts, each as Bun reads it and as js-yaml does; null where it is none. */
import { readFileSync } from 'node:fs'
import { load } from 'js-yaml'

const attempt = (read) => {
  try {
    return JSON.stringify(read()) ?? null
  } catch {
    return null
  }
}
const texts = JSON.parse(readFileSync(process.argv[2], 'utf8'))
process.stdout.write(
  JSON.stringify(texts.map((text) => [attempt(() => Bun.YAML.parse(text)), attempt(() => load(text))])),
)
