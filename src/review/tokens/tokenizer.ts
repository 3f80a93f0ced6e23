/** Counts the tokens of a text, exactly or nearly. Whatever it is, '' has none. */
export type Tokenizer = {
  readonly tier: 'exact' | 'words' | 'characters'
  readonly count: (text: string) => number
}
