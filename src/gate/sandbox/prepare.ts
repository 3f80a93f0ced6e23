import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { ensureFolder, putFile } from '../../state/files.ts'
import { marketplaceFolders } from '../../state/linked-files.ts'
import { configFile, gitDirFolder, sandboxDir } from '../../state/own-paths.ts'
import { readInstallRecord } from '../../state/records.ts'
import { findProgram } from '../../system/environment.ts'
import { unlessAbsent } from '../../system/errors.ts'
import type { GitDirs } from '../../system/git-dirs.ts'
import { sha256 } from '../../system/sha256.ts'
import { shellWord } from '../../text/own-commands.ts'
import { innerArgs, type Profile, profileArgs, seatbeltProfile, seccompFilter } from './profiles.ts'

export type SandboxSettings = { readonly rehearse: readonly string[]; readonly approved: 'protect' | 'off' }

/** Writes the wrapper and a copy of the engine into the worktree's git directory. Once, at install. */
export function installWrapper(root: string, gitDirs: GitDirs, engine: string | null): void {
  const folder = join(gitDirs.own, sandboxDir)
  const sum = findProgram('sha256sum')
  const script = wrapperScript({
    folder,
    root: realpathSync(root),
    commonDir: realpathSync(gitDirs.common),
    scratch: scratchPath(gitDirs.own),
    sha256sum: sum ?? '/usr/bin/shasum -a 256',
  })
  putFile(gitDirs.own, `${sandboxDir}/run`, script, 0o755)
  ensureFolder(gitDirs.own, `${sandboxDir}/started`)
  // A copy, so that nothing replaces it.
  if (engine === null) rmSync(join(folder, 'bwrap'), { force: true })
  else putFile(gitDirs.own, `${sandboxDir}/bwrap`, readFileSync(engine), 0o755)
}

/** Again at each session start: folders come and go. What holds for commands that have begun goes on holding. */
export function writeProfiles(root: string, gitDirs: GitDirs, { rehearse, approved }: SandboxSettings): void {
  // What is not there cannot be made read-only. Git reads the file only where extensions.worktreeConfig says so.
  if (!isThere(join(gitDirs.own, 'config.worktree')))
    writeFileSync(join(gitDirs.own, 'config.worktree'), '', { flag: 'wx' })
  const places = sandboxPlaces(root, gitDirs)
  const put = (name: string, content: string | Uint8Array): void =>
    putFile(gitDirs.own, `${sandboxDir}/${name}`, content, 0o600)
  if (process.platform === 'darwin') {
    for (const profile of ['read-only', 'approved'] as const) put(`${profile}.sb`, seatbeltProfile(profile, places))
  }
  for (const profile of process.platform === 'linux' ? profiles : []) {
    const filter = seccompFilter(process.arch, {
      unixSockets: profile !== 'read-only',
      debugging: profile === 'approved',
    })
    if (filter === null || (profile === 'rehearsal' && rehearse.length === 0)) {
      rmSync(join(gitDirs.own, sandboxDir, `${profile}.args`), { force: true })
      continue
    }
    put(`${profile}.bpf`, filter)
    put(`${profile}.args`, `${profileArgs(profile, places).join('\0')}\0`)
  }
  put('absent', places.absentPaths.map((path) => `${path}\n`).join(''))
  put('rehearse', rehearse.map((runner) => `${runner}\n`).join(''))
  if (approved === 'off') put('approved-is-free', '')
  else rmSync(join(gitDirs.own, sandboxDir, 'approved-is-free'), { force: true })
}

/** Its commands are read-only like the others then. */
export const dropRehearsal = (gitDir: string): void =>
  rmSync(join(gitDir, sandboxDir, 'rehearsal.args'), { force: true })

const profiles: readonly Profile[] = ['read-only', 'rehearsal', 'approved']

/** A user of a container may have no name. */
const uid = process.getuid?.() ?? 0

/** The commands of a worktree see this folder as /tmp. */
function scratchFolder(gitDir: string): string {
  const path = scratchPath(gitDir)
  for (const folder of [dirname(path), path]) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const found = lstatSync(folder)
    // In a /tmp that others can write to, somebody else may have been faster.
    if (!found.isDirectory() || found.uid !== uid) throw new Error(`${folder} is not a folder of this user`)
    chmodSync(folder, 0o700)
  }
  return path
}

/** Not below TMPDIR: each session may have another. */
function scratchPath(gitDir: string, user = uid): string {
  const tmp = unlessAbsent(() => realpathSync('/tmp'), '/tmp')
  return join(tmp, `plan-gate-${user}`, sha256(gitDir).slice(0, 12))
}

/** What lies outside of the folder in the git directory. */
export function removeSandbox(gitDir: string, user = uid): void {
  const config = join(gitDir, 'config.worktree')
  if (statSync(config, { throwIfNoEntry: false })?.size === 0) rmSync(config)
  const path = scratchPath(gitDir, user)
  if (!isThere(path)) return
  rmSync(path, { recursive: true, force: true, maxRetries: 3 })
  try {
    rmdirSync(dirname(path))
  } catch {
    // Other worktrees have theirs there.
  }
}

/** Absolute real paths, and what the environment of a command is. */
export function sandboxPlaces(root: string, { own, common }: GitDirs) {
  const [realRoot, gitDir] = [realpathSync(root), realpathSync(own)]
  const [commonDir, home] = [realpathSync(common), realpathSync(homedir())]
  const caches = cacheFolders.map((name) => join(home, name)).filter(isFolder)
  const candidates = [
    ...protectedPaths(realRoot, gitDir, commonDir, home),
    ...programsInCaches(own, caches).filter((path) => !isWithin(path, realRoot) && !isWithin(realRoot, path)),
  ]
  return {
    root: realRoot,
    gitDir,
    commonDir,
    /** The private /tmp of the commands of this worktree, kept from one command to the next. */
    scratch: scratchFolder(own),
    /** Of Claude Code in /tmp: the output of background tasks. */
    clientDirs: [...new Set([process.env.CLAUDE_CODE_TMPDIR ?? '/tmp', tmpdir()])]
      .map((folder) => join(folder, `claude-${uid}`))
      .filter(isFolder)
      .map((folder) => realpathSync(folder)),
    home,
    isRoot: uid === 0,
    caches,
    protectedPaths: candidates.filter(isThere),
    /** Where nothing can be mounted. */
    absentPaths: candidates.filter((path) => plantable.test(path) && !isThere(path)),
    /** Below a protected path. */
    reopened: gitDir.startsWith(`${commonDir}/worktrees/`) ? [gitDir] : [],
    /** Sockets that `git push` and `git commit -S` talk to. */
    agents: [process.env.SSH_AUTH_SOCK ?? '', `/run/user/${uid}/gnupg`].filter(
      (path) => path.startsWith('/') && isThere(path),
    ),
    secrets: Object.keys(process.env).filter((name) => secretName.test(name)),
    environment: {
      // Where a cache would be made, nothing may be: HOME is read-only.
      ...(isFolder(join(home, '.npm')) ? {} : { npm_config_cache: join(scratchFolder(own), '.npm') }),
      ...(isFolder(join(home, '.cache')) ? {} : { XDG_CACHE_HOME: join(scratchFolder(own), '.cache') }),
    } as { readonly [name: string]: string },
  }
}

const secretName =
  /(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$|^(?:SSH_AUTH_SOCK|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|DBUS_SESSION_BUS_ADDRESS)$/i

/** No folder of programs: what stands on PATH would be run outside of the sandbox. */
const cacheFolders = [
  ...['.cache', '.npm', '.bun/install/cache', '.local/share/pnpm/store', '.yarn/berry/cache'],
  ...['.cargo/registry', '.cargo/git', '.gradle', '.ivy2', '.m2', '.nuget/packages', 'go/pkg'],
]

/** What decides whether the gate holds, and what git or Claude Code run or load because of it. */
function protectedPaths(root: string, gitDir: string, commonDir: string, home: string): string[] {
  const ofGit = ['config', 'config.worktree', 'gitdir', 'commondir', 'hooks', 'info/exclude', 'info/attributes']
  return [
    ...['.claude', configFile, '.mcp.json'].map((name) => join(root, name)),
    ...(lstatSync(join(root, '.git')).isFile() ? [join(root, '.git')] : []),
    ...[...new Set([commonDir, gitDir])].flatMap((dir) => [...ofGit, gitDirFolder].map((name) => join(dir, name))),
    // Those of other worktrees, with their gates, and of any that is opened later.
    ...['worktrees', 'modules', 'plan-gate-archive'].map((name) => join(commonDir, name)),
    join(gitDir, 'modules'),
    join(home, '.cache/plan-gate'),
  ]
}

/** What runs outside of the sandbox out of a package cache. Not in the worktree, where `npm ci` could not remove it. */
function programsInCaches(gitDir: string, caches: readonly string[]): string[] {
  const record = readInstallRecord(gitDir)
  const programs = ['node', 'claude', 'codex', 'bwrap'].flatMap((name) => findProgram(name) ?? [])
  const own = record.kind === 'read' ? (record.value.package_root ?? []) : []
  return [process.execPath, ...programs, ...(process.env.PATH ?? '').split(delimiter)]
    .concat(own, ...marketplaceFolders().values())
    .filter((path) => isAbsolute(path) && existsSync(path))
    .flatMap(wayTo)
    .flatMap((path) => caches.filter((cache) => isWithin(path, cache)).map((cache) => wholeInstall(path, cache)))
    .filter((path) => !caches.includes(path))
}

/** The real path, and the folder of each link on the way: a link cannot be made read-only without it. */
function wayTo(path: string): string[] {
  const parts = path.split('/').filter((part) => part !== '')
  for (const [index] of parts.entries()) {
    const link = `/${parts.slice(0, index + 1).join('/')}`
    if (!lstatSync(link).isSymbolicLink()) continue
    const folder = resolve(dirname(link))
    return [folder, ...wayTo(join(resolve(folder, readlinkSync(link)), ...parts.slice(index + 1)))]
  }
  return [resolve(path)]
}

/** The packages that were installed together, as in `_npx/<hash>`: each loads code of the others. */
function wholeInstall(path: string, cache: string): string {
  const [, folder] = /^\/(.+?)\/node_modules(?:\/|$)/.exec(path.slice(cache.length)) ?? []
  return folder === undefined ? path : join(cache, folder)
}

const isWithin = (path: string, folder: string): boolean => `${path}/`.startsWith(`${folder}/`)

/** What nobody has a reason to make while a plan is carried out, unlike submodules and archives. */
const plantable = /\/(?:plan-gate\.yaml|\.mcp\.json|commondir|gitdir|config\.worktree|hooks|attributes)$/

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined
const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

type WrapperPlaces = {
  /** The folder of the wrapper itself, in the worktree's git directory. */
  readonly folder: string
  readonly root: string
  readonly commonDir: string
  readonly scratch: string
  /** A program that prints SHA-256 sums, with its flags. */
  readonly sha256sum: string
}

/** POSIX sh, because starting node would take 80 ms a command. Whatever it does not know it refuses. */
const wrapperScript = ({ folder, root, commonDir, scratch, sha256sum }: WrapperPlaces): string => `#!/bin/sh
# plan-gate: every command of Claude Code starts here, in a sandbox that can change nothing until the plan is approved.
here=${shellWord(folder)}
root=${shellWord(root)}
common=${shellWord(commonDir)}
scratch=${shellWord(scratch)}
newline='
'

refuse() {
  IFS= read -r plan_gate < "$here/../start-command" 2>/dev/null || plan_gate=plan-gate
  printf 'plan-gate: the command was not run: %s. \`%s doctor\` says more.\\n' "$1" "$plan_gate" >&2
  exit 126
}

# The gate trusts the sandbox once a command of the session has come through here.
note_start() {
  case \${CLAUDE_CODE_SESSION_ID-} in
    '' | *[!A-Za-z0-9-]*) return ;;
  esac
  [ -e "$here/started/$CLAUDE_CODE_SESSION_ID.$1" ] || : > "$here/started/$CLAUDE_CODE_SESSION_ID.$1"
}

# Without a sandbox there is nothing to know: the list has decided, and the client's shell runs what the client wrote.
refuse_in_sandbox() { [ "$mode" = list ] || refuse "$1"; }

unset PLAN_GATE_ARGS PLAN_GATE_SANDBOX
[ $# -eq 1 ] || refuse 'it came in a form that this version of plan-gate does not know'
IFS= read -r mode < "$here/mode" || mode=

# What Claude Code itself adds to a command of the Bash tool.
case $1 in
  *' && pwd -P >| '*) cwd=\${1##*' && pwd -P >| '} ;;
  *"eval '"*) refuse_in_sandbox 'Claude Code starts commands in a form that this version of plan-gate does not know' ;;
  *)
    # Hooks, MCP servers and the status line; the client sets this variable for them only.
    [ -n "\${CLAUDE_PROJECT_DIR-}" ] || refuse_in_sandbox 'it came in a form that this version of plan-gate does not know'
    note_start hook
    exec /bin/sh -c "$1"
    ;;
esac

case $1 in
  *'/snapshot-bash-'*) shell=bash ;;
  *'/snapshot-zsh-'*) shell=zsh ;;
  *)
    shell=\${SHELL##*/}
    case $shell in bash | zsh) ;; *) refuse_in_sandbox 'its shell is neither bash nor zsh' ;; esac
    ;;
esac

if [ "$mode" = sandbox ] && [ -n "\${SANDBOX_RUNTIME-}" ]; then
  # Claude Code's own sandbox is on, and a second one cannot be made inside it. From the next call on the list decides.
  if [ -e "$here/started/\${CLAUDE_CODE_SESSION_ID-}.nested" ]; then mode=list; else
    note_start nested
    refuse "Claude Code's own sandbox is on, so plan-gate's list of commands that only read decides from now on; try again"
  fi
fi
case $mode in
  sandbox) ;;
  list) exec "\${shell:-sh}" -c "$1" ;;
  *) refuse 'the sandbox is not set up' ;;
esac
note_start command

# The file that tells Claude Code where the command ended; the only one outside of the sandbox that it may write.
case $cwd in
  "'"*"'") cwd=\${cwd#"'"} cwd=\${cwd%"'"} ;;
esac
case $cwd in
  *["'"$newline]*) refuse 'its end is not the one that Claude Code adds' ;;
esac
case \${cwd%/*} in
  "\${CLAUDE_CODE_TMPDIR-/tmp}" | "\${TMPDIR-/tmp}" | /tmp | /private/tmp) ;;
  *) refuse 'its end is not the one that Claude Code adds' ;;
esac
case \${cwd##*/} in
  claude-*-cwd) ;;
  *) refuse 'its end is not the one that Claude Code adds' ;;
esac
if [ -e "$cwd" ] || [ -L "$cwd" ]; then
  { [ -f "$cwd" ] && [ ! -L "$cwd" ] && [ -O "$cwd" ]; } || refuse "$cwd is not a file of this user"
else
  # A command that fails does not write it, so it says beforehand that nothing has moved.
  (set -C && pwd -P > "$cwd") 2> /dev/null || refuse "$cwd cannot be created"
fi

# Approved: the plan, its approval and the configuration are the very bytes that the gate last found open.
profile=read-only
if [ -f "$here/approved" ]; then
  approved=
  while IFS= read -r line; do approved=$approved$line$newline; done < "$here/approved"
  [ -n "$approved" ] || refuse 'the record of the approval cannot be read'
  now=$(cd "$root" && exec ${sha256sum} docs/plan.md .claude/review/approval.json plan-gate.yaml 2> /dev/null)
  if [ "$now$newline" = "$approved" ]; then profile=approved; fi
fi
command=$1
if [ "$profile" = approved ] && [ -e "$here/approved-is-free" ]; then exec "$shell" -c "$command"; fi
if [ "$profile" = read-only ] && [ -f "$here/rehearsal.args" ]; then
  typed=" \${command#*" eval '"}"
  while IFS= read -r runner; do
    case $typed in
      *[\\ \\;\\&\\|\\($newline]"$runner"[\\ \\;\\&\\|\\)\\'$newline]*)
        profile=rehearsal
        echo 'plan-gate: a rehearsal: what this command writes is thrown away, because no plan is approved yet.' >&2
        break
        ;;
    esac
  done < "$here/rehearse"
fi

# Long sessions outlive what /tmp keeps.
for made in "\${scratch%/*}" "$scratch"; do
  [ -d "$made" ] || mkdir -m 700 "$made" 2> /dev/null
  { [ -d "$made" ] && [ ! -L "$made" ] && [ -O "$made" ]; } || refuse "$made is not a folder of this user"
done

# macOS. There is no private /tmp, so programs are told of another one.
if [ -r "$here/$profile.sb" ]; then
  TMPDIR=$scratch exec /usr/bin/sandbox-exec -D "CWD_FILE=$cwd" -f "$here/$profile.sb" "$shell" -c "$command"
fi

# Read-only mounts do not stop a connection to a socket, so those that exist are covered.
set --
if [ "$profile" != read-only ]; then
  while read -r _ _ _ _ _ _ _ path; do
    case $path in
      # What git push and git commit -S ask for a key.
      "$HOME"/.gnupg/* | "$HOME"/.cache/git/credential/*) continue ;;
      "$root"/* | "$common"/* | "$HOME"/*) ;;
      /run/* | /var/run/* | /tmp/* | /var/tmp/*) continue ;;
      /*) ;;
      *) continue ;;
    esac
    if [ -S "$path" ]; then set -- "$@" --ro-bind /dev/null "$path"; fi
  done < /proc/net/unix
fi

{ [ -r "$here/$profile.args" ] && [ -r "$here/$profile.bpf" ] && [ -x "$here/bwrap" ]; } || refuse 'the sandbox is not set up'
exec 3< "$here/$profile.args" 4< "$here/$profile.bpf"
if [ "$profile" = approved ]; then
  set -- "$@" --bind "$cwd" "$cwd" --chdir "$PWD" -- "$here/bwrap" ${innerArgs.join(' ')} --seccomp 4 --chdir "$PWD"
else
  set -- --seccomp 4 "$@" --bind "$cwd" "$cwd" --chdir "$PWD"
fi
exec "$here/bwrap" --args 3 --setenv PLAN_GATE_SANDBOX "$profile" "$@" \\
  -- "$shell" -c "[ \\"\\\${PLAN_GATE_ARGS-}\\" = whole ] || { echo 'plan-gate: the command was not run: the sandbox is not set up.' >&2; exit 126; }; $command" < /dev/null
`
