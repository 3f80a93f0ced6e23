import type { FakeSecret } from './fake-secrets.ts'

/** Where a secret may stand. `carrier` is the secret with what gives it away. */
export const placings: { readonly [place: string]: (fake: FakeSecret, carrier: string) => string } = {
  'a sentence': (_, carrier) => `Before ${carrier} after it.`,
  'the end': (_, carrier) => `Look: ${carrier}`,
  'a line': (_, carrier) => `one\n${carrier}\nthree four\n`,
  'an export': ({ name }, carrier) => `export ${name}="${carrier}"\nX=1`,
  'an environment file': ({ name }, carrier) => `A=1\n${name}=${carrier}\nX=1`,
  YAML: ({ name }, carrier) => `a: 1\n${name.toLowerCase()}: ${carrier}\nb: 2`,
  code: ({ name }, carrier) => `const ${name} = '${carrier}'\nfoo()`,
  'a diff': (_, carrier) => `@@ -1 +1 @@\n-a = "1"\n+a = "${carrier}"\n b`,
  JSON: (_, carrier) => JSON.stringify({ note: `see ${carrier} there` }),
  'JSON under its name': ({ name }, carrier) => JSON.stringify({ [name]: carrier }),
  'JSON, deep': (_, carrier) => JSON.stringify({ a: [{ b: { c: [1, { d: carrier }] } }] }, null, 2),
  'JSON in JSON': (_, carrier) => JSON.stringify({ body: JSON.stringify({ a: `k: ${carrier}` }) }),
  'JSON in a text': (_, carrier) =>
    `text\n\`\`\`json\n${JSON.stringify({ a: `x ${carrier} y` }, null, 2)}\n\`\`\`\nmore`,
  'lines of JSON': (_, carrier) => [{ i: 1 }, { a: carrier }, { i: 3 }].map((line) => JSON.stringify(line)).join('\n'),
  'a quoted text with line ends': (_, carrier) => `log: ${JSON.stringify({ a: `x\n${carrier}\ny` })}`,
  'a quoted text in a quoted text': (_, carrier) => `log: ${JSON.stringify(JSON.stringify({ a: carrier }))}`,
}

/** How a secret may have come apart. `around` is what gives it away, before and after. */
export const splits: {
  readonly [how: string]: (pieces: readonly string[], around: readonly [string, string], fake: FakeSecret) => string
} = {
  'a line end': (pieces, [before, after]) => `text\n${before}${pieces.join('\n')}${after}\n\nnext words`,
  'a line end and an indentation': (pieces, [before, after]) =>
    `text\n${before}${pieces.join('\r\n    ')}${after}\n\nnext`,
  'a backslash': (pieces, [before, after]) => `text\n${before}${pieces.join('\\\n')}${after}\n\nnext words`,
  'a backslash in a diff': (pieces, [before, after]) => `@@\n+${before}${pieces.join('\\\n+  ')}${after}\n context`,
  'a diff': (pieces, [before, after]) => `@@\n+${before}${pieces.join('\n+')}${after}\n context`,
  'a line end in JSON': (pieces, [before, after]) => JSON.stringify({ a: `x ${before}${pieces.join('\n')}${after}` }),
  'a line end in JSON in a text': (pieces, [before, after]) =>
    `log ${JSON.stringify({ a: `${before}${pieces.join('\n  ')}${after}` })}`,
  'a block of YAML': (pieces, [before, after]) => `key: >-\n  ${before}${pieces.join('\n  ')}${after}\nnext: 1`,
  'a sum': (pieces, around, { name }) => `const ${name} = ${quoted(pieces, around, ' + ', '"')}\nfoo()`,
  'a sum over lines': (pieces, around, { name }) => `const ${name} = ${quoted(pieces, around, ' +\n    ', '"')}\nfoo()`,
  'a sum with the sign in front': (pieces, around, { name }) =>
    `const ${name} =\n  ${quoted(pieces, around, '\n  + ', "'")}\nfoo()`,
  'a sum in a diff': (pieces, around, { name }) =>
    `+const ${name} = ${quoted(pieces, around, ' +\n+    ', '"')}\n foo()`,
  'strings one after the other': (pieces, around, { name }) => `${name} = (${quoted(pieces, around, '\n    ', '"')})\n`,
  'a sum in a quoted text': (pieces, around, { name }) =>
    `${name} = ${quoted(pieces, around, ' +\\n  ', '\\"')}\\nfoo()`,
}

const quoted = (
  pieces: readonly string[],
  [before, after]: readonly [string, string],
  between: string,
  quote: string,
): string => {
  const all = pieces.join('\u0000')
  return `${before}${all}${after}`
    .split('\u0000')
    .map((piece) => `${quote}${piece}${quote}`)
    .join(between)
}

/** Cut at these parts of its length. */
export const cut = (secret: string, at: readonly number[]): readonly string[] => {
  const places = [0, ...at.map((part) => Math.round(part * secret.length)), secret.length]
  return places.slice(1).map((end, index) => secret.slice(places[index], end))
}
