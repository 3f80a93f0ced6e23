import type { Random } from '../random.ts'

/**
 * Arguments in the languages of sed, find, awk, jq and git: mostly plain, with here and there what a reader may take for
 * the end of something and another for a part of it.
 */
export function makeArgument(name: string, random: Random): string | null {
  const make = makers[name.split(' ')[0] ?? '']
  return make === undefined ? null : quoted(make(random), random)
}

const quoted = (text: string, random: Random): string =>
  text.includes("'") || random.oneIn(20) ? `"${text.replace(/[\\"$`]/g, '\\$&')}"` : `'${text}'`

const many = (random: Random, most: number, make: () => string, between = ''): string =>
  Array.from({ length: 1 + random.below(most) }, make).join(between)

const delimiters = ['/', '/', '/', '|', '#', ',', '@', ':', 'x']
/** Where one sed sees the end of a pattern and another does not. */
const borders = ['[', ']', '[^', '[]', '[[:alpha:]]', '[/', '/]', '\\', '\\/', '\\n', '\\]', '{', '}', '\n', ';', 'é']
const texts = [
  'alpha',
  'a',
  ' ',
  'a b',
  '.',
  '*',
  '^',
  '$',
  '.*',
  '+',
  '?',
  '(',
  ')',
  '|',
  '&',
  'src',
  '1',
  '-',
  '_',
  '',
]
const writes = ['w zz', 'wzz', 'e', 'e id', 'r list.txt', 'W zz', 'w src/1', 'i x', 'F', 'y/a/b/', 'a zz']

function pattern(random: Random): string {
  return many(random, 4, () => (random.oneIn(12) ? random.pick([...borders, ...writes]) : random.pick(texts)))
}

function sedAddress(random: Random): string {
  const one = (): string =>
    random.pick([
      () => String(random.below(6)),
      () => '$',
      () => `/${pattern(random)}/`,
      () => `/${pattern(random)}/`,
    ])()
  const second = random.oneIn(3) ? `,${random.oneIn(4) ? `+${random.below(4)}` : one()}` : ''
  return `${one()}${second}${random.oneIn(8) ? '!' : ''}${random.oneIn(8) ? ' ' : ''}`
}

function sedCommand(random: Random): string {
  const address = random.oneIn(3) ? '' : sedAddress(random)
  if (random.oneIn(12)) return address + random.pick(writes)
  if (!random.oneIn(2)) return address + random.pick(['p', 'd', 'q', '='])
  const delimiter = random.pick(delimiters)
  const flags = random.pick(['', '', 'g', 'p', '2', 'gp', 'I', 'w zz', 'e', 'm', 'M'])
  return `${address}s${delimiter}${pattern(random)}${delimiter}${pattern(random)}${delimiter}${flags}`
}

const awkPieces = [
  '$1',
  '$2',
  '$NF',
  'NR',
  'NF',
  '"a"',
  '": "',
  ', ',
  ' ',
  '> "zz"',
  '| "id"',
  '"id" | getline',
  'system("id")',
  '\\"',
]
const awkTests = ['NR==1', 'NF>1', '/alpha/', '/[/]/', '$1=="a"', 'length($0) > 2', 'BEGIN', 'END', 'NR<3 && NF', 'x=1']
const jqPieces = [
  '.',
  '.items',
  '.[]',
  '.[0]',
  '.x',
  '."x"',
  ' | ',
  'keys',
  'length',
  'map(.id)',
  'select(.id == 1)',
  'env',
  '$ENV',
  '$ENV.PATH',
  'input',
  'inputs',
  '{id, env}',
  '{x: .y}',
  '[., env]',
  '"\\(env)"',
  '"\\(1)"',
  ', ',
  'repeat(1)',
  'recurse',
  '..',
  'def f: f; f',
  '//',
  'import "a" as a;',
  'limit(1; 2)',
  '@sh',
  'range(9)',
]
const findPieces = [
  '-name',
  "'*.ts'",
  '-type',
  'f',
  '-o',
  '!',
  '(',
  ')',
  '-path',
  '[-]x',
  '-exec',
  '{}',
  '+',
  ';',
  '-delete',
  '-print',
  '-printf',
  '%p\\n',
  '-fprint',
  'zz',
  '-maxdepth',
  '2',
  '-prune',
  '-ls',
  '-rm',
  '-exclude',
  '-newermt',
  '-regex',
  '.*[/]',
  '-files0-from',
  '-fls',
  '-perm',
  '-u=x',
  '-mtime',
  '-1',
  '-D',
  '-S',
  '-f',
  '-X',
]
const gitPieces = [
  '--sort=',
  '--format=',
  '--pretty=',
  'signature',
  'refname',
  '-committerdate',
  'version:refname',
  '%H',
  '%G?',
  '%+GS',
  '%(refname)',
  '%(signature)',
  '%(signature:key)',
  '%(*signature)',
  '%(if)%(HEAD)%(then)x%(end)',
  '--output=zz',
  '--output',
  '-O',
  '-Oid',
  '--ext-diff',
  '--textconv',
  'HEAD',
  'HEAD~1',
  'HEAD:src/a.ts',
  ':/first',
  '@{u}',
  '--',
  'src',
  '[s]rc',
  '-S',
  '-G[a]',
  '-L1,2:src/a.ts',
  '--no-index',
  '-C',
  '..',
  'src',
  '-c',
  'core.pager=id',
]
const grepPieces = [
  'alpha',
  '[a]',
  '[^/]',
  'a|b',
  '-e',
  '-f',
  'list.txt',
  '-z',
  '-Z',
  '--filter=*:id',
  '--pager=id',
  '--save-config=zz',
  '--config',
  '---zz',
  '-Q',
  '--view=id',
  '--index',
  '-r',
  '-n',
  '--include=*.ts',
  '-m1',
  '-%',
  '-P',
  '\\d',
  '(?{id})',
  'src',
  '--null-data',
]

const makers: { readonly [name: string]: (random: Random) => string } = {
  sed: (random) => many(random, 2, () => sedCommand(random), random.oneIn(20) ? '\n' : ';'),
  awk: (random) =>
    `${random.oneIn(2) ? random.pick(awkTests) : ''}{print ${many(random, 4, () => random.pick(awkPieces))}}`,
  jq: (random) => many(random, 4, () => random.pick(jqPieces)),
  find: (random) => random.pick(findPieces),
  git: (random) => many(random, 2, () => random.pick(gitPieces)),
  grep: (random) => random.pick(grepPieces),
  rg: (random) => random.pick(grepPieces),
}
