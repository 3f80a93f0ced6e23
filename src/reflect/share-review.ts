import { asList, asRecord, textOrNull } from './read-values.ts'

/** When each file was last sent to review, and whether it has changed since without being sent. */
export type Sharing = { readonly files: readonly SharedFile[] }
type SharedFile = {
  readonly key: string
  readonly about: string
  readonly at: number
  readonly isWaiting: boolean
}

/**
 * Changes to one file that follow each other closely share the review of the first; what is not looked at by itself is
 * named at the end. Never while something is open about the file: the next change may be the one that mends it.
 */
export function shareReview(
  { files }: Sharing,
  { key, about, isOpen }: { readonly key: string; readonly about: string; readonly isOpen: boolean },
  now: number,
  quietMs: number,
): { readonly sharing: Sharing; readonly isShared: boolean } {
  const others = files.filter((file) => file.key !== key)
  const last = files.find((file) => file.key === key)
  const age = last === undefined ? quietMs : now - last.at
  const isShared = last !== undefined && !isOpen && age >= 0 && age < quietMs
  const file = { key, about, at: isShared ? last.at : now, isWaiting: isShared }
  return { sharing: { files: [...others, file].slice(-most) }, isShared }
}

/** The review did not come about: there is nothing to share. */
export const forgetReview = ({ files }: Sharing, key: string): Sharing => ({
  files: files.filter((file) => file.key !== key),
})

/** What was changed and not looked at since. */
export const waitingFiles = ({ files }: Sharing): readonly string[] =>
  files.filter(({ isWaiting }) => isWaiting).map(({ about }) => about)

/** A look at the whole has seen them. */
export const nothingWaits = ({ files }: Sharing): Sharing => ({
  files: files.map((file) => ({ ...file, isWaiting: false })),
})

const most = 200

export const readSharing = (value: unknown): Sharing => ({
  files: asList(asRecord(value).files)
    .flatMap((file) => readFile(asRecord(file)))
    .slice(-most),
})

function readFile({ key, about, at, isWaiting }: { readonly [field: string]: unknown }): SharedFile[] {
  const name = textOrNull(key)
  if (name === null || typeof at !== 'number' || !Number.isFinite(at)) return []
  return [{ key: name, about: textOrNull(about) ?? name, at, isWaiting: isWaiting === true }]
}
