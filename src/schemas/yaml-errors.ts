import type { ErrorCode } from 'yaml'

type Words = { readonly message: string; readonly hint?: string }

const quoteIt = 'If it is meant as text, put it in quotes.'
const misplaced: Words = {
  message: 'This is not expected here.',
  hint: 'Look for a missing quote, comma, bracket or colon, here or just before.',
}
const property: Words = { message: 'These signs (&, *, !) have no meaning together.', hint: quoteIt }
const crowded: Words = {
  message: 'There is more than one "key:" on this line, or the next line is indented too far.',
  hint: 'Give each key a line of its own; put a text with a colon in quotes.',
}
const noColon: Words = {
  message: 'A colon is missing here.',
  hint: 'Write "key: value", with a space after the colon.',
}

/** YAML's own errors in plain words. */
const byCode: { readonly [code in ErrorCode]: Words } = {
  ALIAS_PROPS: property,
  BAD_ALIAS: { message: 'A * or & begins a name, and none follows.', hint: quoteIt },
  BAD_COLLECTION_TYPE: property,
  BAD_DIRECTIVE: { message: 'A line that begins with % has no meaning here.', hint: 'Leave it out.' },
  BAD_DQ_ESCAPE: {
    message: 'Nothing is known by this letter after a backslash.',
    hint: 'Use single quotes, in which a backslash is only a backslash.',
  },
  BAD_INDENT: {
    message: 'The indentation of this line fits no line above.',
    hint: 'Align it with the keys of its block.',
  },
  BAD_PROP_ORDER: property,
  BAD_SCALAR_START: { message: 'A text cannot begin with this character.', hint: 'Put it in quotes.' },
  BLOCK_AS_IMPLICIT_KEY: crowded,
  BLOCK_IN_FLOW: { message: 'Between brackets there can be no indented block.', hint: 'Close the bracket before it.' },
  DUPLICATE_KEY: misplaced,
  IMPOSSIBLE: misplaced,
  KEY_OVER_1024_CHARS: { message: 'No key is that long.', hint: 'Look for a missing quote or colon.' },
  MISSING_CHAR: misplaced,
  MULTILINE_IMPLICIT_KEY: noColon,
  MULTIPLE_ANCHORS: property,
  MULTIPLE_DOCS: misplaced,
  MULTIPLE_TAGS: property,
  NON_STRING_KEY: misplaced,
  RESOURCE_EXHAUSTION: { message: 'This is nested too deeply.' },
  TAB_AS_INDENT: { message: 'The indentation of this line has a tab in it.', hint: 'Use spaces.' },
  TAG_RESOLVE_FAILED: { message: 'Words that begin with ! have no meaning here.', hint: quoteIt },
  UNEXPECTED_TOKEN: misplaced,
}

/** Where one code stands for several mistakes, YAML's own message tells them apart. */
const byMessage: readonly { readonly says: RegExp; readonly words: Words; readonly atOpening?: true }[] = [
  { says: /closing ["']quote/, words: { message: 'The quote that opens here is never closed.' }, atOpening: true },
  { says: /end with a [\]}]/, words: { message: 'The bracket that opens here is never closed.' }, atOpening: true },
  { says: /followed by map values/, words: noColon },
  {
    says: /block-seq-ind on same line/,
    words: {
      message: 'A list cannot begin on the line of its key.',
      hint: 'Begin it on the next line, or write [a, b].',
    },
  },
]

/** `atOpening`: what is wrong ends here; the reader wants to see where it began. */
export function explainYamlError(code: ErrorCode, message: string): Words & { readonly atOpening?: true } {
  const variant = byMessage.find(({ says }) => says.test(message))
  return variant ? { ...variant.words, ...(variant.atOpening && { atOpening: true }) } : byCode[code]
}
