import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeAtomic } from '../state/files.ts'
import { UserError } from '../system/errors.ts'
import { git, gitOrNull } from '../system/git.ts'
import { printable } from '../text/clean.ts'

/**
 * `npm run changelog -- 0.2.0` moves what stands under "Unreleased" in CHANGELOG.md to the section of that version, and
 * lists below it what the commits since the last release say. It can be run again until the version is tagged: what was
 * written by hand is kept. `npm run --silent changelog -- --print 0.2.0` prints that section, for the release's page.
 */
const usage = 'Give the version: npm run changelog -- 0.2.0, or: npm run changelog -- --print 0.2.0'
const file = 'CHANGELOG.md'
const root = process.cwd()

type Commit = {
  hash: string
  date: string
  subject: string
  type: string | null
  scope: string
  text: string
  /** What has to be known about it. */
  breaking: string | null
  /** The beginnings of the hashes that it takes back. */
  reverts: readonly string[]
}

function parseCommit(record: string): Commit {
  const [hash = '', date = '', subject = '', ...lines] = record.split('\n')
  const body = lines.join('\n')
  const conventional = subject.replace(/^(?:Revert|Reapply) "(.*)"$/, 'revert: $1')
  const [, type, scope = '', mark, text = ''] = /^([a-z]+)(?:\(([^()]+)\))?(!)?: +(\S.*)$/i.exec(conventional) ?? []
  const footer = body
    .split(/\n\s*\n|\n(?=(?:BREAKING CHANGE|[\w-]+): )/)
    .find((part) => /^BREAKING[ -]CHANGE: /.test(part))
    ?.replace(/^[^:]+: /, '')
  return {
    hash,
    date,
    subject,
    type: type?.toLowerCase() ?? null,
    scope,
    text,
    breaking: footer ?? (mark === undefined ? null : text),
    reverts: type?.toLowerCase() === 'revert' ? (body.match(/\b[0-9a-f]{7,40}\b/g) ?? []) : [],
  }
}

/** A commit and the one that takes it back are both left out; `commits` begin with the newest. */
function withoutReverted(commits: readonly Commit[]): readonly Commit[] {
  const undone = new Set<Commit>()
  return commits.filter((commit) => {
    if (undone.has(commit)) return false
    const targets = commits.filter(({ hash }) => commit.reverts.some((start) => hash.startsWith(start)))
    for (const target of targets) undone.add(target)
    return targets.length === 0
  })
}

const groups: readonly [string, (commit: Commit) => boolean][] = [
  ['Breaking changes', ({ breaking }) => breaking !== null],
  ['Features', ({ type }) => type === 'feat'],
  ['Fixes', ({ type }) => type === 'fix'],
  ['Performance', ({ type }) => type === 'perf'],
  ['Reverted', ({ type }) => type === 'revert'],
]

function formatCommits(commits: readonly Commit[]): string {
  let left = [...withoutReverted(commits)]
    .reverse()
    .sort((a, b) => Number(a.scope > b.scope) - Number(a.scope < b.scope))
  const parts = groups.flatMap(([title, belongs]) => {
    const these = left.filter(belongs)
    left = left.filter((commit) => !these.includes(commit))
    return these.length === 0 ? [] : [`### ${title}\n\n${these.map(formatCommit).join('\n')}\n`]
  })
  return parts.join('\n')
}

const formatCommit = ({ scope, text, breaking, hash }: Commit): string =>
  `- ${scope === '' ? '' : `**${inMarkdown(scope)}:** `}${inMarkdown(breaking ?? text)} (${hash.slice(0, 7)})`

/** One line of plain text; code spans stay what they are. */
const inMarkdown = (text: string): string =>
  printable(text.replace(/\s+/g, ' ').trim(), 400)
    .split(/(`[^`]+`)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(/[\\`*_[\]<>&~]/g, '\\$&')))
    .join('')

/** The last release that this version follows: one before a final version is no pre-release. */
async function lastReleaseTag(version: string): Promise<string | null> {
  const finalOnly = version.includes('-') ? [] : ['--exclude', 'v*-*']
  const tag = await gitOrNull(root, ['describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*', ...finalOnly])
  return tag?.trim() ?? null
}

async function readCommits(since: string | null): Promise<readonly Commit[]> {
  const range = since === null ? 'HEAD' : `${since}..HEAD`
  const format = ['--no-show-signature', '-z', '--format=%H%n%cs%n%B']
  const log = await git(root, ['log', '--no-merges', '--topo-order', ...format, range, '--'])
  return log.split('\0').flatMap((record) => (record === '' ? [] : [parseCommit(record)]))
}

const begin = (since: string): string =>
  `<!-- from the commits since ${since}; \`npm run changelog\` writes it anew -->`
const end = '<!-- end of the commits -->'
const generatedPart = /^<!-- from the commits since .* -->\n[\s\S]*?^<!-- end of the commits -->\n?/m

const sectionsOf = (text: string): readonly string[] => text.split(/^(?=## )/m)
const isSectionOf = (name: string) => (section: string) =>
  section.startsWith('## ') && /^## \[?([^\]\s]+)/.exec(section)?.[1]?.toLowerCase() === name.toLowerCase()
const bodyOf = (section: string | undefined): string => section?.replace(/^.*\n?/, '').trim() ?? ''

async function writeSection(version: string): Promise<void> {
  if ((await gitOrNull(root, ['rev-parse', '--is-shallow-repository']))?.trim() === 'true')
    throw new UserError('this clone is shallow, so commits are missing', 'git fetch --unshallow --tags')
  if ((await gitOrNull(root, ['rev-parse', '--verify', '--quiet', `refs/tags/v${version}`])) !== null)
    throw new UserError(`v${version} is tagged, and what was released stays`, 'give the next version')
  const sections = sectionsOf(readFileSync(join(root, file), 'utf8').replaceAll('\r\n', '\n'))
  const own = isSectionOf(version)
  const unreleased = isSectionOf('Unreleased')
  const written = [sections.find(own), sections.find(unreleased)]
    .map((section) => bodyOf(section).replace(generatedPart, '').trim())
    .filter((text) => text !== '')
  const since = await lastReleaseTag(version)
  const commits = await readCommits(since)
  const [newestCommit] = commits
  if (newestCommit === undefined)
    throw new UserError(`nothing was committed since ${since}`, 'there is nothing to release')
  // Of a first release everything is new: what a person wrote about it says more than every commit since the beginning.
  const isToldByHand = since === null && written.length > 0
  const listed = isToldByHand ? '' : formatCommits(commits)
  const generated = listed === '' ? [] : [`${begin(since ?? 'the beginning')}\n\n${listed}\n${end}`]
  const heading = `## ${version} - ${newestCommit.date}`
  const others = sections.filter((section) => !own(section) && !unreleased(section))
  const newest = others.findIndex((section) => section.startsWith('## '))
  const at = newest === -1 ? others.length : newest
  const parts = [
    ...others.slice(0, at),
    '## Unreleased',
    [heading, ...written, ...generated].join('\n\n'),
    ...others.slice(at),
  ]
  writeAtomic(root, file, `${parts.map((part) => part.trim()).join('\n\n')}\n`, 0o644)
  const unknown = isToldByHand ? [] : commits.filter(({ type }) => type === null)
  console.error(
    `${file}: the section ${version} is written. Read it, and write above the commits what a reader should know.`,
  )
  for (const { hash, subject } of unknown)
    console.error(`  left out, not conventional: ${hash.slice(0, 7)} ${printable(subject)}`)
}

function printSection(version: string): void {
  const text = bodyOf(
    sectionsOf(readFileSync(join(root, file), 'utf8').replaceAll('\r\n', '\n')).find(isSectionOf(version)),
  )
  if (text === '') throw new UserError(`${file} has no section ${version}`, `npm run changelog -- ${version}`)
  console.log(text)
}

const [first = '', second = ''] = process.argv.slice(2)
const version = first === '--print' ? second : first
try {
  if (!/^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/.test(version)) throw new UserError('no version was given', usage)
  if (first === '--print') printSection(version)
  else await writeSection(version)
} catch (error) {
  console.error(error instanceof UserError ? `changelog: ${error.message}.\n  → ${error.nextStep}` : error)
  process.exitCode = 1
}
