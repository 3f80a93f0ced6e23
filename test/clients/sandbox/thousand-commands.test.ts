import { afterAll, beforeAll, expect, it } from 'vitest'
import { differences, type SandboxedWorktree, sandboxedWorktree, wholeState } from '../../support/sandboxed-worktree.ts'
import { type OutsideWorld, startOutsideWorld } from './outside-world.ts'

/** What agents do in a repository, with holes for names. */
const templates = [
  'ls -la {dir}',
  'cat {file}',
  'rg -n {word} {dir} || true',
  'grep -rn {word} {dir} | head -5',
  'find {dir} -name "*.{ext}" | wc -l',
  'sed -n 1,5p {file}',
  'sed -i "s/{word}/{other}/" {file}',
  "awk '{ print $1 }' {file}",
  'git status --short && git diff {file}',
  'git log --oneline -3 -- {file}',
  'git add {file} && git commit -m "{word}"',
  'git checkout -b {word}-{number}',
  'git stash && git stash pop',
  'git config user.name {word}',
  'git tag v{number}',
  'git rm -q {file}',
  'git mv {file} {dir}/{other}.{ext}',
  'git apply <<EOF\ndiff --git a/{file} b/{file}\nEOF',
  'echo {word} > {dir}/{other}.{ext}',
  'echo {word} >> {file}',
  'cat > {dir}/{other}.{ext} <<EOF\n{word}\nEOF',
  'printf "%s\\n" {word} | tee {dir}/{other}.txt',
  'mkdir -p {dir}/{other}/{word} && touch {dir}/{other}/{word}/x.{ext}',
  'rm -rf {dir}/{other} {file}',
  'mv {file} {dir}/{other}.{ext}',
  'cp -r {dir} {other}',
  'ln -s {file} {other}-{number}',
  'chmod +x {file} && ./{file}',
  'touch {file} {dir}/{other}.{ext}',
  'cd {dir} && ls && touch {other}.{ext}',
  'for f in {dir}/*; do wc -l "$f"; done',
  'for i in 1 2 3; do echo $i > {dir}/{other}-$i.txt; done',
  'F={file}; head -3 "$F"; echo x >> "$F"',
  "node -e \"require('fs').writeFileSync('{dir}/{other}.js', '{word}')\"",
  "node -e \"console.log(require('fs').readFileSync('{file}', 'utf8').length)\"",
  'npm run build',
  'npm test -- {word}',
  'npm install --no-audit {word}-{number}',
  'npm pkg set name={word}',
  'npm version {number}.0.0 --no-git-tag-version',
  'npx --yes {word}-{number}',
  'make {word}',
  'tar czf {other}.tgz {dir} && tar xzf {other}.tgz',
  'find {dir} -type f -exec sed -i "s/{word}/{other}/g" {} +',
  'xargs -n1 touch < {file}',
  'dd if=/dev/zero of={dir}/{other}.bin bs=1 count={number}',
  'truncate -s {number} {file}',
  'curl -s -m 1 http://127.0.0.1:$PORT/{word}',
  'kill $PID; kill -0 $PID',
  '(sleep 71.5 &) ; echo {word}',
  'nohup sleep 71.5 > /dev/null 2>&1 &',
  'echo {word} > $HOME/.{other}rc; cat $HOME/.{other}rc',
  'echo {word} > /tmp/{other}.txt && cat /tmp/{other}.txt',
  'export {word}={number}; env | grep {word}',
  'bash -c "echo {word} > {dir}/{other}.{ext}"',
  'sh {file}',
  'patch -p1 < {file}',
  'diff {file} README.md > {other}.patch; true',
  'sort -o {file} {file}',
  'split -l 1 {file} {dir}/{other}-',
]

const names = {
  dir: ['.', 'src', 'src/lib', 'docs', 'test', '.claude', '.git', '..', '$HOME', '$GIT'],
  file: [
    'README.md',
    'src/a.ts',
    'src/lib/b.ts',
    'package.json',
    'docs/notes.md',
    '.gitignore',
    'plan-gate.yaml',
    '.mcp.json',
  ],
  word: ['parser', 'config', 'error', 'TODO', 'export', 'version', 'session'],
  other: ['helper', 'out', 'new', 'result', 'copy'],
  ext: ['ts', 'js', 'md', 'json'],
  number: ['1', '2', '17', '300'],
} as const

/** The same each time: the n-th command takes the n-th template, and names by a fixed sequence. */
function commandAt(n: number): string {
  let seed = n * 2_654_435_761
  return (templates[n % templates.length] ?? '').replace(/\{(\w+)\}/g, (whole, name: string) => {
    const choices: readonly string[] | undefined = names[name as keyof typeof names]
    if (choices === undefined) return whole
    seed = (Math.imul(seed ^ (seed >>> 15), 2_246_822_519) + 1) >>> 0
    return choices[seed % choices.length] ?? ''
  })
}

let worktree: SandboxedWorktree
let world: OutsideWorld
beforeAll(async () => {
  worktree = await sandboxedWorktree({
    'src/lib/b.ts': 'export const version = 1\n',
    'docs/notes.md': '# parser TODO\n',
    'package.json': '{"name":"x","scripts":{"build":"echo > built.txt","test":"echo > tested.txt"}}\n',
    'plan-gate.yaml': 'gate:\n',
    '.mcp.json': '{}\n',
    Makefile: 'parser config error:\n\techo > $@\n',
  })
  world = await startOutsideWorld(worktree)
  await worktree.run('true')
})
afterAll(() => {
  world.close()
  worktree.remove()
})

it('2,000 commands as agents type them run before an approval, and nothing outside changes', {
  timeout: 900_000,
}, async () => {
  const different = new Set<string>()
  for (let n = 0; different.size < 2_000; n += 1) different.add(commandAt(n))
  const commands = [...different]
  const stateOutside = () => wholeState([worktree.base], (path) => path === `${worktree.base}/tmp`)
  const before = stateOutside()
  let started = 0
  let refused = 0
  for (let from = 0; from < commands.length; from += 50) {
    const batch = commands.slice(from, from + 50)
    for (let i = 0; i < batch.length; i += 2)
      for (const { output, code } of await Promise.all(
        batch.slice(i, i + 2).map((command) => worktree.run(command, { env: world.env, timeoutMs: 20_000 })),
      )) {
        started += 1
        if (code === 126 || output.includes('the command was not run')) refused += 1
      }
    expect([...differences(before, stateOutside()), ...(await world.disturbances())], batch.join('\n')).toEqual([])
  }
  expect([started, refused]).toEqual([2_000, 0])
})
