/** What the file system says about the candidate; nothing here looks for itself. */
export type PlanCandidate = {
  /** As it was named, absolute. */
  readonly path: string
  /** The folder of the plans, absolute. */
  readonly folder: string
  /** Both with every link resolved; null where there is nothing (yet). */
  readonly realPath: string | null
  readonly realFolder: string | null
  readonly isRegularFile: boolean
}

export type PlanPath =
  | { readonly kind: 'plan'; readonly path: string }
  | { readonly kind: 'rejected'; readonly why: string }

/** A plan is a Markdown file that lies directly below the folder of the plans, and nowhere else by way of a link. */
export function judgePlanPath({ path, folder, realPath, realFolder, isRegularFile }: PlanCandidate): PlanPath {
  if (/[\0\r\n]/.test(path)) return rejected('its name has control characters')
  if (!path.startsWith('/') && !/^[A-Za-z]:[\\/]/.test(path)) return rejected('it is not an absolute path')
  if (partsOf(path).some((part) => part === '..' || part === '.')) return rejected('it goes by way of . or ..')
  const name = nameBelow(path, folder)
  if (name === null) return rejected(`it does not lie directly below ${folder}`)
  if (!/^[^.].*\.md$/s.test(name)) return rejected('it is not a Markdown file')
  if (realPath === null || realFolder === null || !isRegularFile) return rejected('it is no file')
  return nameBelow(realPath, realFolder) === name
    ? { kind: 'plan', path }
    : rejected('it is a link, or lies behind one that leads elsewhere')
}

const rejected = (why: string): PlanPath => ({ kind: 'rejected', why })

const partsOf = (path: string): string[] => path.split(/[\\/]/)

function nameBelow(path: string, folder: string): string | null {
  const above = partsOf(folder.replace(/[\\/]+$/, ''))
  const parts = partsOf(path)
  const name = parts.pop()
  return name !== undefined && name !== '' && parts.join('/') === above.join('/') ? name : null
}
