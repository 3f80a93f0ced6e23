import { mayOverlap } from '../gate/scope.ts'
import { sensitiveFileTest, withholdFromDiff } from '../redact/sensitive-files.ts'
import type { Finding, ReviewType } from '../schemas/review.ts'
import { readRegular } from '../state/files.ts'
import { planPath } from '../state/own-paths.ts'
import { readOpenedWorktree } from '../state/records.ts'
import { gitSync } from '../system/hook-git.ts'
import { diffLines, type LineDiff } from '../text/diff.ts'
import type { Material, ReviewDependencies, ReviewRequest } from './request.ts'

/** What a review sends of a request, without secrets. */

type Prepared =
  | { readonly kind: 'prepared'; readonly material: Material; readonly notices: readonly string[] }
  | { readonly kind: 'failed'; readonly why: string; readonly nextStep: string }

/** First of all, since a secret that a budget cuts in two would no longer be recognised. */
export function prepareMaterial(
  request: ReviewRequest,
  sensitiveFiles: readonly string[],
  { redact }: Pick<ReviewDependencies, 'redact'>,
): Prepared {
  const { content } = request
  const withheld = request.type === 'code' ? withholdFromDiff(content, sensitiveFiles) : { diff: content, files: [] }
  const { clean, failed } = collectCleaner(redact)
  const cleanOrNone = (text: string | null): string | null => (text === null ? null : clean(text))
  const { type, iteration, rounds } = request
  const material: Material = {
    ...{ type, iteration, rounds },
    content: clean(withheld.diff),
    expertise: cleanOrNone(request.expertise),
    context: cleanOrNone(request.context),
    changes: cleanOrNone(request.changes),
    intent: cleanOrNone(request.intent),
    guidelines: cleanOrNone(request.guidelines),
    replies: cleanOrNone(request.replies),
    earlier: request.earlier.map((finding) => cleanFinding(finding, clean)),
  }
  const why = failed()
  if (why !== null)
    return {
      kind: 'failed',
      why: `Secrets could not be blanked: ${why}`,
      nextStep: 'Fix review.redaction.patterns in plan-gate.yaml.',
    }
  const blanked = diffLines(content, material.content)
  const prose = request.type === 'plan' ? blanked.find(hidesWords) : undefined
  if (prose !== undefined)
    return {
      kind: 'failed',
      why: `Line ${prose.before} of the plan and what follows look like a secret, which no reviewer may see, and what none has seen is not approved.`,
      nextStep: 'Take it out of the plan, or say it in other words.',
    }
  const lines = blanked.map(({ before }) => before)
  const { files } = withheld
  return {
    kind: 'prepared',
    material,
    notices: [
      ...(files.length === 0 ? [] : [`Not sent, because such files hold secrets: ${files.join(', ')}.`]),
      ...(lines.length === 0 || request.type === 'code'
        ? []
        : [`Blanked, because it looks like a secret, and not seen by the reviewer: in line ${lines.join(', ')}.`]),
    ],
  }
}

/** More than the one word that a secret is. */
function hidesWords({ removed, added }: LineDiff[number]): boolean {
  const words = (lines: readonly string[]): readonly string[] => lines.join(' ').split(/\s+/)
  const left = new Set(words(added))
  return words(removed).filter((word) => word !== '' && !left.has(word)).length > 2
}

const cleanFinding = (finding: Finding, clean: (text: string) => string): Finding => ({
  ...finding,
  section: clean(finding.section),
  problem: clean(finding.problem),
  evidence: clean(finding.evidence),
  fix: clean(finding.fix),
})

/** Redacts many parts; after a failure of one of them, none may be used. */
export function collectCleaner(redact: ReviewDependencies['redact']): {
  readonly clean: (text: string) => string
  readonly failed: () => string | null
} {
  let why: string | null = null
  return {
    clean: (text) => {
      const redaction = redact(text)
      if (redaction.kind === 'redacted') return redaction.text
      why ??= redaction.why
      return ''
    },
    failed: () => why,
  }
}

type Background = { readonly text: string | null; readonly notices: readonly string[] }

const gitTimeoutMs = 10_000
const maxFileBytes = 4 * 1024 * 1024

/** What was asked for: `plan.request`, a path or a pattern, or the document that bootstrap was given. */
export function readIntent(root: string, gitDir: string | null, request: string | null): Background {
  const named = request ?? readOpened(gitDir)?.request ?? null
  if (named === null) return { text: null, notices: [] }
  const files = /[*?[]/.test(named) ? matchingFiles(root, named) : [named]
  if (files.length === 0) return { text: null, notices: [withoutRequest(named, 'it matches no file')] }
  return join(
    files.map((file): Part => {
      const read = refused(file) ?? readRegular(root, file, maxFileBytes)
      if (read.kind === 'read') return { file, text: read.bytes.toString('utf8') }
      return { file, notice: withoutRequest(file, read.kind === 'absent' ? 'it does not exist' : read.why) }
    }),
  )
}

const isSensitive = sensitiveFileTest([])

function refused(file: string): { readonly kind: 'refused'; readonly why: string } | null {
  if (!isInside(file)) return { kind: 'refused', why: 'it is outside of the worktree' }
  if (file === planPath) return { kind: 'refused', why: 'the plan is no request for itself' }
  return isSensitive(file) ? { kind: 'refused', why: 'such files hold secrets' } : null
}

type Guideline = { readonly file: string; readonly types: readonly ReviewType[]; readonly paths: readonly string[] }

type Touched = { readonly type: ReviewType; readonly touched: readonly string[]; readonly base?: string | null }

/**
 * The team's own rules for this type of review and the paths that it touches, as the commit has them that the work
 * started from: nobody edits them under review.
 */
export function readGuidelines(
  root: string,
  gitDir: string | null,
  guidelines: readonly Guideline[],
  { type, touched, base = null }: Touched,
): Background {
  const wanted = guidelines.filter(
    ({ types, paths }) =>
      types.includes(type) &&
      (paths.length === 0 || paths.some((pattern) => touched.some((path) => mayOverlap(pattern, path)))),
  )
  const commit = base ?? readOpened(gitDir)?.base_commit ?? 'HEAD'
  return join(
    [...new Set(wanted.map(({ file }) => file))].map((file): Part => {
      const run = gitSync(root, ['cat-file', 'blob', `${commit}:${file.replace(/^\.\//, '')}`], gitTimeoutMs)
      return run.kind === 'ended' && run.exitCode === 0
        ? { file, text: run.stdout.toString('utf8') }
        : { file, notice: `The reviewer did not get the guidelines in ${file}: the base commit has no such file.` }
    }),
  )
}

type Part = { readonly file: string; readonly text?: string; readonly notice?: string }

function join(parts: readonly Part[]): Background {
  const texts = parts.flatMap(({ file, text }) => (text === undefined ? [] : [`${file}:\n\n${text.trim()}\n`]))
  const notices = parts.flatMap(({ notice }) => notice ?? [])
  return { text: texts.length === 0 ? null : texts.join('\n'), notices }
}

function readOpened(gitDir: string | null) {
  const read = gitDir === null ? null : readOpenedWorktree(gitDir)
  return read?.kind === 'read' ? read.value : null
}

function matchingFiles(root: string, pattern: string): readonly string[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', `:(glob)${pattern}`]
  const run = gitSync(root, args, gitTimeoutMs)
  const listed = run.kind === 'ended' && run.exitCode === 0 ? run.stdout.toString('utf8').split('\0') : []
  return [...new Set(listed)].filter((path) => path !== '' && path !== planPath).sort()
}

const isInside = (path: string): boolean => !path.startsWith('/') && !path.split('/').includes('..')

const withoutRequest = (file: string, why: string): string =>
  `The reviewer did not get what was asked for (${file}): ${why}.`
