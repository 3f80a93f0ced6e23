import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { defaultConfig } from '../../../src/config/schema.ts'
import { createReviewers } from '../../../src/reviewers/create.ts'
import type { BackendName, Question } from '../../../src/schemas/review.ts'
import { chatReply, startOpenAiHttp } from '../../support/servers/openai-http.ts'
import { cleanEnvironment, temporaryFolder } from '../../support/temporary-repo.ts'
import { plainRoute } from '../../unit/reviewers/routes/run-with.ts'

const question: Question = {
  ...{ system: 's', user: 'u', model: 'm', effort: null, schema: null, root: null, timeoutMs: 20_000 },
  ...{ thread: { kind: 'none' }, subject: { type: 'plan', content: '' } },
}

/** A session whose project settings set `theirs`, and the user's own settings `own`. */
async function ask(backend: BackendName, theirs: NodeJS.ProcessEnv, own: NodeJS.ProcessEnv = {}): Promise<string> {
  const [root, home] = [temporaryFolder(), temporaryFolder()]
  for (const [folder, env] of [
    [root, theirs],
    [home, own],
  ] as const) {
    mkdirSync(join(folder, '.claude'))
    writeFileSync(join(folder, '.claude/settings.json'), JSON.stringify({ env }))
  }
  const program = join(root, 'model-invoke')
  writeFileSync(program, '#!/bin/sh\necho "proxy: ${HTTPS_PROXY-none}"\n')
  chmodSync(program, 0o755)
  const config = { ...defaultConfig, hounfour: { ...defaultConfig.hounfour, model_invoke: program } }
  const env = { ...cleanEnvironment(), HOME: home, CLAUDE_PROJECT_DIR: root, ...own, ...theirs }
  const reviewers = createReviewers(config, root, env)
  const context = { signal: new AbortController().signal, onProgress: () => {} }
  const answer = await reviewers({ ...plainRoute, name: backend, backend })(question, context)
  return answer.kind === 'failed' ? answer.why : answer.text.trim()
}

const key = ['sk', 'test', 'a1b2'].join('-')

it('a repository does not say through whom model-invoke connects', async () => {
  expect(await ask('hounfour', { HTTPS_PROXY: 'http://127.0.0.1:9' })).toBe('proxy: none')
})

it('nor whom the OpenAI reviewer asks', async () => {
  const [evil, own] = [await startOpenAiHttp(chatReply('theirs')), await startOpenAiHttp(chatReply('own'))]
  const theirs = { OPENAI_BASE_URL: evil.url, OPENAI_API_KEY: key }
  expect(await ask('curl', theirs, { OPENAI_BASE_URL: own.url })).toBe('own')
  expect([evil.received.length, own.received.length]).toEqual([0, 1])
})
