import { fileURLToPath } from 'node:url'
import { filesByFolder, forbiddenImports, longestChain, readSources } from './layout.ts'

/** `npm run layout`: how large the source is, and whether it keeps the import rule. */
const sources = readSources(fileURLToPath(new URL('../..', import.meta.url)))
const sumOf = (files: typeof sources): number => files.reduce((sum, { lines }) => sum + lines, 0)
const bySize = [...sources].sort((a, b) => b.lines - a.lines)
const median = bySize[Math.floor(bySize.length / 2)]?.lines
const largest = bySize.slice(0, 5).map(({ path, lines }) => `${path} ${lines}`)
const chain = longestChain(sources)
const forbidden = forbiddenImports(sources)
const hooksImportedBy = sources.filter(
  ({ folder, imports }) => folder !== 'hooks' && imports.some((path) => path.startsWith('src/hooks/')),
)

console.log(`files ${sources.length}, lines ${sumOf(sources)}, median ${median}`)
console.log(`largest: ${largest.join(', ')}`)
console.log(`longest import chain (without types): ${chain.length} files\n  ${chain.join('\n  ')}`)
console.log(`src/hooks is imported by: ${hooksImportedBy.map(({ path }) => path).join(', ') || 'nobody'}`)
console.log(`imports against the rule: ${forbidden.length}${forbidden.map((line) => `\n  ${line}`).join('')}`)
for (const [folder, files] of [...filesByFolder(sources)].sort())
  console.log(
    `${folder.padEnd(26)} ${String(files.length).padStart(3)} files ${String(sumOf(files)).padStart(6)} lines`,
  )
