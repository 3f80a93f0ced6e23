import { findAssignments } from './find-assignments.ts'
import { findCommandPasswords } from './find-command-passwords.ts'
import { findHeaders } from './find-headers.ts'
import { findKeyBlocks } from './find-key-blocks.ts'
import { findSplitTokens } from './find-split-tokens.ts'
import { findTokens } from './find-tokens.ts'
import { findUrlPasswords } from './find-url-passwords.ts'
import type { Found } from './found.ts'

/** The surest first: of two that overlap, the first gives its name. */
export const findSecrets = (text: string): readonly Found[] => [
  ...findKeyBlocks(text),
  ...findTokens(text).map(({ row, start, end }) => ({ kind: row.kind, parts: [{ start, end }] })),
  ...findSplitTokens(text),
  ...findUrlPasswords(text),
  ...findHeaders(text),
  ...findCommandPasswords(text),
  ...findAssignments(text),
]
