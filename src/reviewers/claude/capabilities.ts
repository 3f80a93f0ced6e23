import { failureOfHelp, missingFlags as missingOf, readCapabilitiesOf, tooOld, type Within } from '../program-cache.ts'
import { requiredFlags } from './args.ts'
import { type ClaudeSetup, claudeEnvironment } from './environment.ts'
import { claudeProgram } from './failures.ts'

/** The required flags that this Claude Code lacks, by the text of its help. */
export const missingFlags = (help: string): string[] => missingOf(help, requiredFlags)

/** `true`: it can review. */
export const checkCapabilities = (setup: ClaudeSetup, folder: string, within: Within) => {
  const env = { ...claudeEnvironment(setup.env), CLAUDE_CONFIG_DIR: folder }
  const parse = (text: string): true | null => (text === 'true' ? true : null)
  return readCapabilitiesOf<true>(claudeProgram, setup, env, within, parse, async (run) => {
    const help = await run('--help')
    if (help.kind !== 'ended' || help.exitCode !== 0) return { failure: failureOfHelp(claudeProgram, help) }
    const missing = missingFlags(help.stdout)
    return missing.length > 0 ? tooOld(claudeProgram, missing) : true
  })
}
