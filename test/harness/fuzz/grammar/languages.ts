import type { Random } from '../random.ts'
import { documentedOptions, documentedPlaceholders, jqFunctions } from './documented.ts'
import { forms, one } from './forms.ts'

/**
 * Programs in the languages of sed, find, awk and jq as their manuals have them, whatever the gate thinks of it: most of
 * each language is denied, and what is allowed is run. What such a program could do is done to the file `zz`.
 */
export const languages: { readonly [name: string]: (random: Random) => string } = {
  sed: (random) => sedCall(random),
  find: (random) => findExpression(random),
  awk: (random) => `${awkOptions(random)}${quoted(awkProgram(random), random)}${awkOperands(random)}`,
  jq: (random) => `${jqOptions(random)}${quoted(jqFilter(random, 3), random)} ${random.oneIn(15) ? '' : 'data.json'}`,
  git: (random) => gitValue(random),
}

/** A word of the shell for this text, in one of the ways to quote it. */
function quoted(text: string, random: Random): string {
  const isDouble = random.oneIn(12)
  if (isDouble || text.includes("'")) return `"${text.replace(/[\\"$`]/g, '\\$&')}"`
  return `'${text}'`
}

const words = (text: string): readonly string[] => {
  const list = known.get(text) ?? text.split(' ')
  known.set(text, list)
  return list
}
const known = new Map<string, readonly string[]>()
const many = (random: Random, most: number, make: () => string, between = ''): string =>
  Array.from({ length: 1 + random.below(most) }, make).join(between)
const maybe = (random: Random, times: number, make: () => string): string => (random.oneIn(times) ? make() : '')

// sed: "sed, a stream editor", chapters 3 (commands), 4 (addresses), 5 (regular expressions)

const plainText = [...words('alpha beta a b c d e f g h w x 1 2 3 src . , - _ = % @ ~ < > ( ) " zz'), 'touch zz', ' ']
const regexAtoms = [
  ...words('. * ^ $ + ? ( ) | { } [a] [^a] [[:alpha:]] [[.a.]] [[=a=]] [] [a]b] []a] [^]a] [/] [,] [\\n] [\\]] [|'),
  ...words(
    '\\( \\) \\| \\+ \\? \\{1\\} \\{1,2\\} \\n \\t \\w \\W \\s \\S \\b \\B \\< \\> \\` \\1 \\cA \\d097 \\o141 \\x61',
  ),
  ...words('\\/ \\, \\. \\* \\[ \\] \\\\ \\$ \\^ & \\n[ \\x5b \\x5d \\x2f \\d047 \\c[ \\c] é 中'),
  "\\'",
  ' ',
  '\n',
  ';',
  '#',
]
const replacements = [
  ...words('& \\& \\1 \\2 \\n \\t \\L \\U \\l \\u \\E \\x26 \\cM \\/ \\\\ \\; [ ] { } ; #'),
  '\\\n',
  '\n',
  ' ',
]

/** Half of them are plain, since one odd character is enough to be denied. */
function regex(random: Random): string {
  const isOdd = random.oneIn(2)
  return many(random, 5, () => random.pick(isOdd && random.oneIn(4) ? regexAtoms : plainText))
}

function sedAddress(random: Random): string {
  const delimiter = random.pick(words('% , | # / ; x n [ a'))
  const first = random.pick([
    () => String(random.below(7)),
    () => `/${regex(random)}/${random.pick(words('I M IM MI').concat('', '', '', '', ''))}`,
    () => one(random, '$ ¦ 0 ¦ 1 ¦ $ ¦ 2~3 ¦ 0~2'),
    () => (random.oneIn(4) ? `\\${delimiter}${regex(random)}${delimiter}` : `/${random.pick(plainText)}/`),
  ])()
  const second = random.pick(words(',2 ,$ ,+1 ,+2 ,~3 ,~0 ,/b/ ,/b/I ,0 ,0~2').concat(',\\%b%', ', 2', ' ,2', ',/[/]/'))
  return first + maybe(random, 3, () => second) + maybe(random, 6, () => one(random, '! ¦  ! ¦ !  ¦ !! ¦  '))
}

const sedFiles = forms("zz ¦  zz ¦  src/zz ¦  /dev/stdout ¦  list.txt ¦  ¦ \tzz ¦  'zz")
const sedFlags = [
  ...words('g p 1 2 12 i I m M e gp pg gI 2g p2 ew we pe ep gpe w'),
  '',
  '',
  '',
  '',
  '',
  ' ',
  ' g',
  'w zz',
  'pw zz',
  'gw\tzz',
  ';',
  '}',
]

function sedCommand(random: Random, depth = 0): string {
  const delimiter = random.pick(words('/ / / / / | # , @ : ! % _ = 1 x s w e n ; [ ] . * + ( { ^ $ - & é').concat(' '))
  const text = (): string => one(random, 'zz ¦ touch zz ¦ \\\nzz ¦ \\\nzz\\\ne touch zz ¦ \\zz ¦  zz ¦  ¦ \\ ¦ ;w zz')
  return random.pick<() => string>([
    ...words('p d q = n l p d q').map((name) => () => name),
    () => random.pick(words('D F g G h H N P x z Q q5 Q5 l3 l0 n;n')),
    () => `${random.pick(words('b t T'))}${one(random, ' ¦  end ¦ x ¦  x; ¦  x} ¦ :x')}`,
    () => `:${one(random, 'x ¦  end ¦ x;w zz ¦ x y ¦ ')}`,
    () => `${random.pick(words('a i c'))}${text()}`,
    () => `${random.pick(words('r R w W'))}${random.pick(sedFiles)}`,
    () => one(random, 'e ¦ e touch zz ¦ etouch zz ¦ e\ttouch zz ¦ v ¦ v 4.2 ¦ v 9 ¦ #n ¦ # ¦ # w zz ¦ #\nw zz'),
    () => `y${delimiter}${random.pick(['ab', 'a\\', '\\n'])}${delimiter}${random.pick(['xy', 'b', 'x\\'])}${delimiter}`,
    () =>
      depth < 2
        ? `{${many(random, 2, () => sedLine(random, depth + 1), random.pick([';', '\n']))}${one(random, ';} ¦ } ¦ \n} ¦ ')}`
        : '}',
    ...[1, 2, 3, 4, 5, 6].map(() => () => {
      const replacement = random.oneIn(3) ? many(random, 3, () => random.pick(replacements)) : regex(random)
      return `s${delimiter}${regex(random)}${delimiter}${replacement}${delimiter}${random.pick(sedFlags)}`
    }),
  ])()
}

const sedLine = (random: Random, depth = 0): string =>
  `${maybe(random, 8, () => random.pick([' ', '\t', ';']))}${random.oneIn(2) ? sedAddress(random) : ''}${sedCommand(random, depth)}${maybe(random, 8, () => ' ')}`

/** What only prints, by the manual, of any characters: what is denied is not run, and so proves nothing about a sed. */
function sedPrinting(random: Random): string {
  const text = (): string =>
    many(random, 6, () => (random.oneIn(3) ? random.pick(plainText) : String.fromCharCode(32 + random.below(95))))
  const address = (): string => random.pick([() => String(random.below(9)), () => '$', () => `/${text()}/`])()
  const addresses = (): string => address() + maybe(random, 3, () => `,${maybe(random, 4, () => '+')}${address()}`)
  const delimiter = random.pick(words('/ / | # , @'))
  const command = random.oneIn(3)
    ? random.pick(words('p d q ='))
    : `s${delimiter}${text()}${delimiter}${random.oneIn(4) ? '' : text()}${delimiter}${random.pick(words('g p gp 2 3g I Ig').concat(''))}`
  return `${maybe(random, 2, addresses)}${maybe(random, 6, () => random.pick(['!', ' ', '! ']))}${command}`
}

/** The script, or the scripts, with the options that say where they are. */
function sedCall(random: Random): string {
  const line = random.oneIn(3) ? sedLine : sedPrinting
  const script = (): string =>
    quoted(
      many(random, random.oneIn(3) ? 3 : 1, () => line(random), one(random, '; ¦ ; ¦ ;  ¦ \n ¦ \n\n ¦   ¦ ')),
      random,
    )
  const options = maybe(
    random,
    2,
    () =>
      `${random.pick(words('-n -E -r -s -z -u -b -nE -ns -nz -l5 --posix --debug --sandbox -i -i.bak -n -n --quiet --silent --sep --null-data --regexp --in-place -ni -En'))} `,
  )
  const given = random.pick<() => string>([
    () => script(),
    () => script(),
    () => script(),
    () => `-e ${script()}`,
    () => `-e ${script()} -e ${script()}`,
    () => `-e${script()}`,
    () => `-ne ${script()}`,
    () => `--expression=${script()}`,
    () => `--exp=${script()} -e ${script()}`,
    () => `--expression ${script()}`,
    () =>
      random.pick([
        '-f script.sed',
        '--file=script.sed',
        '--fi script.sed',
        '-nf script.sed',
        '-f-',
        `-s ${script()} -- `,
        `-- ${script()}`,
      ]),
  ])()
  const files = one(
    random,
    'list.txt ¦ list.txt ¦ src/a.ts list.txt ¦ script.sed ¦ -n list.txt ¦ list.txt -i ¦ list.txt -n ¦ -- list.txt ¦ list.txt -e p ¦ src/a.ts -s ¦ ',
  )
  return `${options}${given} ${files}`
}

// find: its own list of options, tests and actions, with values that would do something

let findPlaceholders: readonly string[] | undefined

function findExpression(random: Random): string {
  findPlaceholders ??= documentedPlaceholders('find')
  const value = (): string =>
    random.pick([
      ...words(
        "'*.ts' f d f,d 1 -1 +1 2 0 . src list.txt zz 10k -10c root 644 -u=x /222 '{}' ';' + '*' '[-]x' 2026-01-01 @0 emacs posix-extended ext4",
      ),
      ...words('-delete -exec touch cat -print ! , ( ) -- - -x'),
      quoted(
        many(random, 3, () => random.pick([...(findPlaceholders ?? []), '\\n', '\\0', '\\c', ' ', '%%'])),
        random,
      ),
    ])
  const operator = (): string => one(random, "'(' ¦ ')' ¦ \\( ¦ \\) ¦ ! ¦ -o ¦ -a ¦ , ¦ -not ¦ -or ¦ -and")
  const test = (): string => {
    const { name, takesValue } = random.pick(documentedOptions('find'))
    if (/^-(?:exec|ok)/.test(name))
      return `${name} ${random.pick(['touch zz', 'cat {}', 'touch zz {}'])} ${one(random, "';' ¦ \\; ¦ + ¦ {} +")}`
    return takesValue ? `${name} ${value()}` : name
  }
  const starts = one(
    random,
    " ¦ .  ¦ src  ¦ ./src .  ¦ -H .  ¦ -L src  ¦ -O3 .  ¦ -D exec .  ¦ -D tree  ¦ -P -O1 src  ¦ -f src  ¦ -s .  ¦ '('  ¦ -- . ",
  )
  return `${starts}${many(random, 4, () => (random.oneIn(4) ? operator() : test()), ' ')}${maybe(random, 8, () => ` ${value()}`)}`
}

// awk: POSIX and "GAWK: effective awk programming"

const awkValues = words(
  '$0 $1 $2 $NF $(1) NR NF FS "a" "zz" "touch\\040zz" 1 0 -1 x length length($1) substr($1,1) ENVIRON["CANARY_TOKEN"] ARGV[1] FILENAME tolower($1) sprintf("%s",$1) rand() systime() "\\"" "\\/" "\\n" PROCINFO["pid"] /a/ $1+1 !NR ($1)',
).concat('"touch zz"', '": "', '"/inet/tcp/0/127.0.0.1/9"', '$1 $2')
const awkTests = words(
  'NR==1 NF>1 NR<3 /alpha/ /[/]/ /a\\/b/ /a|b/ $1=="a" $1~/a/ $1!~"b" BEGIN END BEGINFILE NF x=1 NR%2 !x[$1]++ $2>1 length>2',
).concat(
  'NR==1, NR==3',
  'NF && NR>1',
  'length($0) > 2',
  'NR == 2 || /b/',
  '@include "script.sed"',
  'function f(a) {print a > "zz"} END',
)

function awkAction(random: Random): string {
  const value = (): string => random.pick(awkValues)
  const list = (): string => many(random, 3, value, random.pick([', ', ' ', ',']))
  return random.pick<() => string>([
    ...[1, 2, 3, 4, 5, 6].map(() => () => `print ${list()}`),
    () => `print${random.oneIn(2) ? '' : `(${list()})`}`,
    () =>
      `print ${list()} ${one(random, '> "zz" ¦ >> "zz" ¦ | "touch zz" ¦ |& "touch zz" ¦ >"zz" ¦ |"sh" ¦ >$1 ¦ > $NF')}`,
    () => `printf "%s\\n", ${value()}`,
    () =>
      one(
        random,
        'system("touch zz") ¦ "touch zz" | getline ¦ "touch zz" |& getline x ¦ getline < "list.txt" ¦ getline ¦ next ¦ exit ¦ nextfile ¦ delete x ¦ close("zz") ¦ fflush() ¦ while (1) x ¦ for (;;) ; ¦ $1 = "x" ¦ f() ¦ x[$1]++ ¦ exit 1 ¦ @load "readfile"',
      ),
  ])()
}

function awkProgram(random: Random): string {
  const rule = (): string =>
    `${random.oneIn(2) ? `${random.pick(awkTests)}${random.pick(['', ' '])}` : ''}${random.oneIn(8) ? '' : `{${random.pick(['', ' '])}${many(random, random.oneIn(3) ? 2 : 1, () => awkAction(random), random.pick(['; ', ';', '\n']))}${random.pick(['', ' ', ';'])}}`}`
  return many(random, random.oneIn(5) ? 2 : 1, rule, one(random, '  ¦ ; ¦ \n ¦ '))
}

const awkOptions = (random: Random): string =>
  maybe(
    random,
    3,
    () =>
      `${random.pick(words("-F, -F: -F -v -F'\\t' -f -e -E -i -l -o -ozz -dzz -pzz -D --dump-variables=zz --profile=zz -W -We -Wexec --exec -n -S --sandbox --posix -b -- --include --source --file=script.sed -vx=1"))}${one(random, '  ¦   ¦  x=1  ¦  script.sed  ¦  inplace ')}`,
  )
const awkOperands = (random: Random): string =>
  one(
    random,
    ' list.txt ¦  list.txt ¦  list.txt src/a.ts ¦  x=1 list.txt ¦  FS=: list.txt ¦  /inet/tcp/0/127.0.0.1/9 ¦  - ¦  ¦  -v x=1 ¦  -f script.sed ¦  -- list.txt ¦  ./x=1',
  )

// jq: what `builtins` prints, and the syntax of its manual

const jqSyntax = [
  ...words(
    '. .. .[] .[0] .[1:] .items .x ."x" .["x"] .x? .items[] .a.b [] {} [.] {x} {x,n} {(.x):1} "a" "\\(env)" "\\(.x)" @base64 @sh @json @text "@" 1 -1 null true $ENV $ENV.CANARY_TOKEN $__loc__ $__prog_args',
  ),
  ...words(
    'env env.CANARY_TOKEN input inputs input_filename input_line_number builtins debug stderr halt error halt_error modulemeta get_search_list now localtime',
  ),
  ...forms(
    '{env} ¦ {x: env} ¦ {"env": 1} ¦ {(env.CANARY_TOKEN): 1} ¦ . as $x | $x ¦ . as [$a] | $a ¦ . as {env: $e} | $e ¦ reduce .[] as $x (0; .+1)',
  ),
  ...forms(
    'foreach .[] as $x (0; .+1) ¦ if . then 1 else 2 end ¦ try error catch . ¦ label $f | break $f ¦ def f: f; f ¦ def f(g): g | f(g); f(.)',
  ),
  ...forms(
    'import "a" as a; . ¦ include "a"; . ¦ import "data" as $d; $d ¦ repeat(.) ¦ range(9) ¦ range(infinite) ¦ until(false; .) ¦ while(true; .) ¦ recurse(.) ¦ limit(1; .) ¦ first(repeat(1)) ¦ .[] |= 1 ¦ to_entries[] ¦ @sh "\\(env)" ¦ . //= env ¦ .x // env ¦ ?// ¦ -.n ¦ reduce env as $x (0; .) ¦ $__prog_args ¦ "\\u0065nv" ¦ # x\nenv',
  ),
]
let jqNames: readonly string[] | undefined

function jqFilter(random: Random, depth: number): string {
  jqNames ??= jqFunctions()
  const inner = (): string => (depth > 0 && random.oneIn(2) ? jqFilter(random, depth - 1) : random.pick(jqSyntax))
  const term = (): string =>
    random.oneIn(2) && jqNames !== undefined && jqNames.length > 0
      ? random.pick(jqNames).replaceAll('ARG', inner)
      : random.oneIn(5)
        ? random.pick([`(${inner()})`, `[${inner()}]`, `{x: ${inner()}}`, `{${inner()}}`, `.[${inner()}]`])
        : random.pick(jqSyntax)
  return many(random, 3, term, one(random, ' |  ¦ | ¦ ,  ¦  +  ¦  //  ¦  ==  ¦  and  ¦   ¦  -  ¦  *  ¦ / ¦ .'))
}

const jqOptions = (random: Random): string =>
  maybe(
    random,
    3,
    () =>
      `${random.pick([...documentedOptions('jq').map(({ name }) => name), '--arg x 1', '--arg env 1', '--argjson x 1', '-L src', '-L.', '-nr', '-rf script.sed', '--args', '--slurpfile x data.json', '--indent 2', '--indent', '-h'])} `,
  )

// git: formats and revisions, by the manuals

let gitPlaceholders: readonly string[] | undefined

function gitValue(random: Random): string {
  gitPlaceholders ??= ['git-log', 'git-for-each-ref', 'git-branch', 'git-ls-tree', 'git-cat-file'].flatMap(
    documentedPlaceholders,
  )
  const format = (): string =>
    many(random, 2, () => random.pick(gitPlaceholders?.length ? (gitPlaceholders ?? []) : ['%H']))
  return random.pick<() => string>([
    () =>
      random.pick(
        words(
          "HEAD HEAD~1 main feature v1.0 HEAD:src/a.ts stash@{0} '@{u}' ':/first' 'HEAD^{/first}' '@{-1}' 'HEAD^!' ..feature main...feature -- src src/a.ts -1 :0:src/a.ts ':(glob)**' ':!src' -L1,2:src/a.ts",
        ),
      ),
    () => `--format=${quoted(format(), random)}`,
    () => `--pretty=${one(random, ' ¦ format: ¦ tformat: ¦ oneline ¦ raw ¦ fuller')}${quoted(format(), random)}`,
    () =>
      `--sort=${one(random, ' ¦ - ¦ version: ¦ -v:')}${random.pick(gitPlaceholders ?? ['refname']).replace(/^%\(?|\)$/g, '')}`,
  ])()
}
