import { shellWord } from '../../text/own-commands.ts'
import { innerArgs } from './profiles.ts'

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
export const wrapperScript = ({ folder, root, commonDir, scratch, sha256sum }: WrapperPlaces): string => `#!/bin/sh
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
