// A stand-in for the Codex CLI: it knows the flags that a review needs, and answers from a script, one answer a turn.
// FAKE_CODEX_SCRIPT is a JSON file: an array of texts; `{ "error": "…" }` instead of a text is a turn that failed.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

const args = process.argv.slice(2)
const print = (event) => process.stdout.write(`${JSON.stringify(event)}\n`)

if (args.includes('--version')) console.log('codex-cli 0.169.0')
else if (args.includes('--help')) printHelp()
else if (args[0] === 'features') console.log('shell_tool  stable  true')
else if (args[0] === 'login') console.log('Logged in using an API key')
else if (args[0] === 'exec') answerTurn()

function printHelp() {
  const flags = '--json --sandbox --cd --skip-git-repo-check --output-last-message --output-schema --ephemeral --model'
  for (const flag of flags.split(' ')) console.log(`      ${flag}`)
}

function answerTurn() {
  const instructions = /^model_instructions_file="(.*)"$/m.exec(args.join('\n'))?.[1]
  if (instructions !== undefined && !existsSync(instructions)) {
    console.error(`Error: failed to read model instructions file ${instructions}`)
    process.exit(1)
  }
  const prompt = `${instructions === undefined ? '' : readFileSync(instructions, 'utf8')}\n\n${readFileSync(0, 'utf8')}`
  const file = process.env.FAKE_CODEX_SCRIPT
  const [answer, ...rest] = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, JSON.stringify(rest))
  writeFileSync(`${file}.prompt`, prompt)
  const resumed = args.indexOf('resume')
  print({
    type: 'thread.started',
    thread_id: resumed === -1 ? '01a1ed39-1483-7430-bc57-36916eb75627' : args[resumed + 1],
  })
  print({ type: 'turn.started' })
  if (typeof answer === 'string') {
    writeFileSync(args[args.indexOf('-o') + 1], answer)
    print({ type: 'item.completed', item: { id: 'item_0', type: 'agent_message', text: answer } })
    print({ type: 'turn.completed', usage: { input_tokens: 100, cached_input_tokens: 0, output_tokens: 20 } })
  } else {
    const error = { message: answer?.error ?? 'the script of the fake Codex has no more answers' }
    print({ type: 'error', ...error })
    print({ type: 'turn.failed', error })
    process.exitCode = 1
  }
}
