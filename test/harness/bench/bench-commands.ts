import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keepLongHistory } from '../../clients/report/keep-long-history.ts'
import { gatedWorktree } from '../../support/gated-worktree.ts'
import { cli } from '../../support/project.ts'
import { keepExample } from '../../support/report/keep-example.ts'
import { type Measured, measure, type Program, round } from './measure.ts'

type Row = Measured & { against: string; ratio: number; limit: null }

/** A worktree that is opened, gated and proved by its self-test, against one that git alone opens. */
export function benchBootstrap(runs: number): Row[] {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'bench-bootstrap-')))
  try {
    const repo = join(folder, 'shop')
    const git = (...args: string[]): string => execFileSync('git', args, { cwd: folder, encoding: 'utf8' })
    git('init', '--quiet', repo)
    for (let i = 0; i < 500; i += 1) writeFileSync(join(repo, `f${i}.txt`), `${i}\n`)
    git('-C', repo, 'add', '--all')
    git('-C', repo, '-c', 'user.name=b', '-c', 'user.email=b@localhost', 'commit', '--quiet', '--message', 'first')
    // A name of its own for each run; the second argument of `sh -c` is its $0.
    const next = `n=$(cat "$0" 2> /dev/null || echo 0); n=$((n + 1)); echo $n > "$0";`
    const counted = (name: string, script: string): Program => ({
      name,
      file: '/bin/sh',
      args: ['-c', `${next} ${script}`, join(folder, `${name.replace(/\W/g, '-')}.count`)],
      cwd: repo,
      exitCode: 0,
    })
    const [plain, bootstrap] = measure(
      [
        counted('git worktree add', `exec git worktree add --quiet -b "plain-$n" "../plain-$n"`),
        counted(
          'bootstrap: 500 files, with its self-test',
          `exec '${process.execPath}' '${cli}' bootstrap --no-launch --reviewer checklist --name "gated-$n"`,
        ),
      ],
      runs,
    )
    return [rowOf(bootstrap, 'git worktree add', plain?.median_ms)]
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** The page of a usual history, and of one as long as they get: 50 revisions of 200 kB. */
export async function benchReport(runs: number): Promise<Row[]> {
  const usual = await gatedWorktree()
  const long = await gatedWorktree()
  try {
    await keepExample(usual.root)
    await keepLongHistory(long.root)
    const report = (name: string, cwd: string): Program => ({
      name,
      file: process.execPath,
      args: [cli, 'report', '--output', join(cwd, '.git', 'report.html')],
      cwd,
      exitCode: 0,
    })
    const [node, ...pages] = measure(
      [
        { name: 'bare node', file: process.execPath, args: ['-e', '0'], exitCode: 0 },
        report('report: two cycles', usual.root),
        report('report: 50 revisions of 200 kB', long.root),
      ],
      runs,
    )
    return pages.map((page) => rowOf(page, 'bare node', node?.median_ms))
  } finally {
    usual.remove()
    long.remove()
  }
}

function rowOf(measured: Measured | undefined, against: string, base: number | undefined): Row {
  if (measured === undefined || base === undefined) throw new Error(`there is nothing to hold ${against} against`)
  return { ...measured, against, ratio: round(measured.median_ms / base), limit: null }
}
