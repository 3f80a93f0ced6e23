/** What a hook process says when it ends. Written by `system/end-process.ts`, and by nothing else. */

export type HookAnswer = {
  stdout?: string
  stderr?: string
  exitCode: 0 | 1 | 2
  /** Notes to keep once the answer is out; whatever becomes of them, the answer stands. */
  afterwards?: () => void
}

/** Allow is silence: `permissionDecision: "allow"` would skip the question that the user's own settings ask. */
export const silence: HookAnswer = { exitCode: 0 }

/**
 * Said three times over. Claude Code takes the JSON when stdout holds nothing else; a line printed before it (a
 * `NODE_OPTIONS=--trace-gc` of the user's, say) would make it plain text and let the call through, were it not for
 * the exit code, for which stderr is the reason.
 */
export const denyToolCall = (reason: string): HookAnswer => ({
  stdout: JSON.stringify({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: reason,
    },
  }),
  stderr: reason,
  exitCode: 2,
})

/** The user is asked, whatever their permissions say; with nobody there, Claude Code refuses. */
export const askUser = (reason: string): HookAnswer => ({
  stdout: JSON.stringify({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'ask',
      permissionDecisionReason: reason,
    },
  }),
  exitCode: 0,
})

/** The one way to refuse a change of settings; Claude Code keeps those that it has. */
export const vetoConfigChange = (reason: string): HookAnswer => ({ stderr: reason, exitCode: 2 })

/** Told to Claude beside the tool's own result; nothing is blocked. `systemMessage` is what the user sees. */
export const addContext = (hookEventName: string, additionalContext: string, systemMessage?: string): HookAnswer => ({
  stdout: JSON.stringify({ systemMessage, hookSpecificOutput: { hookEventName, additionalContext } }),
  exitCode: 0,
})

/** A notice for the person; Claude hears nothing of it. */
export const notifyUser = (systemMessage: string): HookAnswer => ({
  stdout: JSON.stringify({ systemMessage }),
  exitCode: 0,
})

/** Told to Claude as something that it must deal with; what the tool did stays done. */
export const blockAfterTool = (hookEventName: string, reason: string, systemMessage?: string): HookAnswer =>
  hookEventName === 'PostToolUse'
    ? { stdout: JSON.stringify({ systemMessage, decision: 'block', reason }), exitCode: 0 }
    : addContext(hookEventName, reason, systemMessage)

/** The hook itself failed. Where a failure must not let a call through, use `failClosed`. */
export const failOpen = (message: string): HookAnswer => ({ stderr: message, exitCode: 1 })

/** Claude Code lets a call through on any exit code but 2, so a crash must become a 2. */
export const failClosed = (message: string): HookAnswer => ({ stderr: message, exitCode: 2 })
