/** What a line looks like when its texts and numbers are left out: two lines of one shape do the same kind of thing. */
export const shapeOf = (line: string): string =>
  line
    .trim()
    .replace(/'[^']*'|"(?:[^"\\]|\\.)*"/g, 'q')
    .replace(/\d+/g, '9')
    .replace(/\s+/g, ' ')
