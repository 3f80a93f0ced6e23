/** The output of a hook process; `hooks/runtime.ts` writes it. */

export type HookAnswer = {
  stdout?: string
  stderr?: string
  exitCode: 0 | 1 | 2
  /** Runs once the answer is written; a failure does not change the answer. */
  afterwards?: () => void
}

/** Allow is no output: `permissionDecision: "allow"` would skip the question that the user's own settings ask. */
export const silence: HookAnswer = { exitCode: 0 }

/**
 * Three times over. Claude Code takes the JSON when stdout holds nothing else; a line printed before it (a
 * `NODE_OPTIONS=--trace-gc` of the user's, say) would make it plain text and let the call through, were it not for
 * the exit code, for which stderr is the reason.
 */
export const denyToolCall = (reason: string): HookAnswer => ({
  stdout: JSON.stringify({
    hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: reason },
  }),
  stderr: reason,
  exitCode: 2,
})

/** The user is asked even if their permissions allow it; without a user, Claude Code refuses. */
export const askUser = (reason: string): HookAnswer => ({
  stdout: JSON.stringify({
    hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'ask', permissionDecisionReason: reason },
  }),
  exitCode: 0,
})

/** The one way to refuse a change of settings; Claude Code keeps those that it has. */
export const vetoConfigChange = (reason: string): HookAnswer => ({ stderr: reason, exitCode: 2 })

/** For Claude, beside the tool's result; blocks nothing. `systemMessage` is for the user. */
export const addContext = (hookEventName: string, additionalContext: string, systemMessage?: string): HookAnswer => ({
  stdout: JSON.stringify({ systemMessage, hookSpecificOutput: { hookEventName, additionalContext } }),
  exitCode: 0,
})

export const notifyUser = (systemMessage: string): HookAnswer => ({
  stdout: JSON.stringify({ systemMessage }),
  exitCode: 0,
})

/** Claude must act on it; what the tool did is not undone. */
export const blockAfterTool = (hookEventName: string, reason: string, systemMessage?: string): HookAnswer =>
  hookEventName === 'PostToolUse'
    ? { stdout: JSON.stringify({ systemMessage, decision: 'block', reason }), exitCode: 0 }
    : addContext(hookEventName, reason, systemMessage)

/** The hook itself failed. Where a failure must not let a call through, use `failClosed`. */
export const failOpen = (message: string): HookAnswer => ({ stderr: message, exitCode: 1 })

/** Claude Code lets a call through on any exit code but 2, so a crash must become a 2. */
export const failClosed = (message: string): HookAnswer => ({ stderr: message, exitCode: 2 })
