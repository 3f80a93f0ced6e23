import type { ApiError } from './parse-api-error.ts'
import type { Ask } from './request-body.ts'

export type Less = { readonly ask: Ask; readonly notice: string }

/**
 * The same question without the one setting that the server will not have; null when its complaint is another one.
 * `param` is exact where it is there, and the message has to do where it is not.
 */
export function askLess(ask: Ask, status: number, { param, code, message }: ApiError): Less | null {
  if (status !== 400 && status !== 422) return null
  const about = param === '' ? message : param
  if (ask.schema !== null && (code === 'invalid_json_schema' || schemaNames.test(about)))
    return {
      ask: { ...ask, schema: null },
      notice: `The answer's form was only described in words: ${ask.model} there takes no schema.`,
    }
  if (ask.effort !== null && effortNames.test(about))
    return {
      ask: { ...ask, effort: null },
      notice: `Reasoning effort ${ask.effort} was left out: ${ask.model} there does not take it.`,
    }
  return null
}

const schemaNames = /response_format|json_schema|text\.format|^text\b|structured.outputs?|\bschema\b/i
const effortNames = /reasoning|effort/i
