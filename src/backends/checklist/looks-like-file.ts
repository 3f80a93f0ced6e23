/** Whether a path cannot well be a package, a branch, a field or the name of a product. */
export function looksLikeFile(pattern: string, isThere: (pattern: string) => boolean): boolean {
  const [first = '', ...others] = pattern.split('/')
  const ending = /\.([A-Za-z][A-Za-z0-9]{0,9})$/.exec(pattern)?.[1]?.toLowerCase()
  if (others.length === 0) return ending !== undefined && endings.has(ending) && !products.has(pattern.toLowerCase())
  if (/^[\w-]+\.(?:com|org|net|io|dev|app)$/.test(first)) return false
  return pattern.endsWith('/') || ending !== undefined || isThere(first)
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

const endings = words(
  'ts tsx mts cts js jsx mjs cjs json yaml yml toml ini md mdx txt css scss html htm vue svelte py go rs java kt kts ' +
    'rb php cs cpp c h swift sh sql xml lock proto graphql tf',
)
const products = words(
  'node.js next.js vue.js nuxt.js express.js react.js ember.js alpine.js backbone.js electron.js three.js d3.js ' +
    'chart.js moment.js discord.js',
)
