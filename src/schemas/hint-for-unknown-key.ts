import { configSchema } from './config.ts'
import { nearestName } from './nearest-name.ts'
import type { Schema } from './schema.ts'
import { either } from './show-value.ts'

/** Where the key was probably meant to stand, or what it was meant to be. */
export function hintForUnknownKey(key: string, parent: string, siblings: readonly string[]): string {
  const didYouMean = (path: string) => `Did you mean ${path}?`
  const twin = nearestName(key, siblings, 1)
  if (twin) return didYouMean(join(parent, twin))
  const homes = blocks.filter(({ keys }) => keys.includes(key)).map(({ path }) => path)
  if (homes.includes('')) return `${key} belongs at the left margin, under no other key.`
  if (homes.length > 0) return `${key} belongs under ${either(homes.map((path) => `${path}:`))}`
  const sibling = nearestName(key, siblings)
  if (sibling) return didYouMean(join(parent, sibling))
  const cousin = nearestName(
    key,
    paths.map((path) => path.key),
  )
  const path = paths.find((path) => path.key === cousin)?.path
  return path ? didYouMean(path) : `Known here: ${siblings.join(', ')}.`
}

type Block = { readonly path: string; readonly keys: readonly string[] }

const blocksOf = ({ properties, items }: Schema, path: string): readonly Block[] => {
  if (items) return blocksOf(items, `${path}[]`)
  if (!properties) return []
  const below = Object.entries(properties).flatMap(([key, schema]) => blocksOf(schema, join(path, key)))
  return [{ path, keys: Object.keys(properties) }, ...below]
}

const join = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`)

const blocks = blocksOf(configSchema, '')
const paths = blocks.flatMap(({ path, keys }) => keys.map((key) => ({ key, path: join(path, key) })))
