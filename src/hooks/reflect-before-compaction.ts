import { planPath } from '../gate/place-of.ts'
import { answerEvent, type EventAnswer, tellCompaction } from '../reflect/answer-event.ts'
import { saysNothing } from '../reflect/event-text.ts'
import { neutralise } from '../safety/neutralise.ts'
import type { PreCompact } from '../schemas/hook-events.ts'
import { readRegular } from '../store/read-regular.ts'
import { debug } from './debug.ts'
import type { ReflectionSubject } from './find-matter.ts'
import { reflectUncached } from './look-once.ts'
import { readTranscript } from './read-transcript.ts'
import type { ReflectionSetup } from './reflection-setup.ts'

const mostOfTail = 120_000

/** Before the context shrinks: what a second reader thinks is worth keeping. Whatever goes wrong, it shrinks without. */
export async function reflectBeforeCompaction(
  root: string,
  event: PreCompact,
  setup: ReflectionSetup,
  extend: (ms: number) => void,
): Promise<EventAnswer> {
  const content = readTranscript(event.transcript_path, mostOfTail, setup.compiled)
  if (content === '') return answerEvent('PreCompact', saysNothing)
  const plan = readRegular(root, planPath)
  const matter: ReflectionSubject = {
    kind: 'compaction',
    subject: { hash: null, key: null, about: 'the session so far' },
    material: {
      content,
      about: null,
      result: null,
      plan: plan.kind === 'read' ? plan.bytes.toString('utf8') : null,
      changes: null,
      waiting: [],
    },
    weigh: () => ({ model: 'review', effort: 'medium', hints: [] }),
  }
  const look = await reflectUncached(root, event.session_id ?? 'unknown', setup, matter, extend)
  if (look.kind === 'judged') return answerEvent('PreCompact', tellCompaction(look.summary, neutralise))
  debug(`no look back before the compaction: ${look.why}`)
  return answerEvent('PreCompact', saysNothing)
}
