/** With `arguments` of a function, or the free `input` of a custom tool. */
type ToolCall = { name: string } & ({ arguments: { readonly [name: string]: unknown } } | { input: string })

export type ModelTurn = {
  /** Said before the tools are called, or as the answer; several make several messages. */
  text?: string | readonly string[]
  reasoning?: string
  refusal?: string
  calls?: readonly ToolCall[]
  /** Ends with `response.failed`. */
  failed?: { code: string; message: string }
  /** Ends with `response.incomplete`, for this reason. */
  incomplete?: string
  usage?: { input?: number; cached?: number; output?: number; reasoning?: number }
  afterMs?: number
}

type Event = { type: string; [field: string]: unknown }

/** One turn of the model as the events of the Responses API, in their order. */
export function eventsOf(turn: ModelTurn, n: number): Event[] {
  const response = { id: `resp_${n}`, object: 'response', created_at: 1_767_323_045, output: [] }
  const items = itemsOf(turn, n)
  const text = items.find(({ type }) => type === 'message')
  return [
    { type: 'response.created', response: { ...response, status: 'in_progress' } },
    ...(text === undefined
      ? []
      : [{ type: 'response.output_item.added', output_index: 0, item: { ...text, content: [] } }]),
    ...(text === undefined
      ? []
      : [
          {
            type: 'response.output_text.delta',
            item_id: text.id,
            output_index: 0,
            content_index: 0,
            delta: firstText(turn),
          },
        ]),
    ...items.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item })),
    ending(turn, response),
  ]
}

function ending({ failed, incomplete, usage }: ModelTurn, response: object): Event {
  if (failed !== undefined)
    return { type: 'response.failed', response: { ...response, status: 'failed', error: failed } }
  if (incomplete !== undefined) {
    const incomplete_details = { reason: incomplete }
    return { type: 'response.incomplete', response: { ...response, status: 'incomplete', incomplete_details } }
  }
  const { input = 100, cached = 40, output = 20, reasoning = 5 } = usage ?? {}
  return {
    type: 'response.completed',
    response: {
      ...response,
      status: 'completed',
      usage: {
        input_tokens: input,
        input_tokens_details: { cached_tokens: cached },
        output_tokens: output,
        output_tokens_details: { reasoning_tokens: reasoning },
        total_tokens: input + output,
      },
    },
  }
}

const itemsOf = (turn: ModelTurn, n: number): { type: string; id: string; [field: string]: unknown }[] => [
  ...(turn.reasoning === undefined
    ? []
    : [{ type: 'reasoning', id: `rs_${n}`, summary: [{ type: 'summary_text', text: turn.reasoning }] }]),
  ...textsOf(turn).map((text, i) => message(`msg_${n}_${i}`, { type: 'output_text', text, annotations: [] })),
  ...(turn.refusal === undefined ? [] : [message(`msg_${n}_no`, { type: 'refusal', refusal: turn.refusal })]),
  ...(turn.calls ?? []).map((call, i) => ({
    id: `fc_${n}_${i}`,
    call_id: `call_${n}_${i}`,
    name: call.name,
    ...('input' in call
      ? { type: 'custom_tool_call', input: call.input }
      : { type: 'function_call', arguments: JSON.stringify(call.arguments) }),
  })),
]

const message = (id: string, part: object) => ({
  type: 'message',
  id,
  role: 'assistant',
  status: 'completed',
  content: [part],
})

const textsOf = ({ text }: ModelTurn): readonly string[] =>
  text === undefined ? [] : typeof text === 'string' ? [text] : text

const firstText = (turn: ModelTurn): string => textsOf(turn)[0] ?? ''
