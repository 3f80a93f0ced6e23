import { describe, expect, it } from 'vitest'
import { isOpenai, keyHeaders } from '../../../../src/reviewers/openai/base-url.ts'

const key = ['a1b2c3d4', 'e5f6a7b8'].join('')
const token = ['eyJhbGciOiJub25lIn0', 'eyJhdWQiOiJ4In0', 'c2lnbmF0dXJl'].join('.')

describe('keyHeaders', () => {
  it.each<[string, string | null, object]>([
    ['https://api.openai.com/v1', key, { authorization: `Bearer ${key}` }],
    ['http://127.0.0.1:11434/v1', null, {}],
    ['https://shop.openai.azure.com/openai/v1', key, { 'api-key': key }],
    ['https://shop.services.ai.azure.com/openai/v1', key, { 'api-key': key }],
    ['https://shop.openai.azure.com/openai/v1', token, { authorization: `Bearer ${token}` }],
    ['https://openai.azure.com.example.com/v1', key, { authorization: `Bearer ${key}` }],
    ['https://notopenai.azure.com/v1', key, { authorization: `Bearer ${key}` }],
  ])('%s with %s', (url, key, headers) => {
    expect(keyHeaders(new URL(url), key)).toEqual(headers)
  })
})

describe('isOpenai', () => {
  it.each([
    ['https://api.openai.com/v1', true],
    ['https://eu.api.openai.com/v1', true],
    ['https://API.OpenAI.com', true],
    ['https://api.openai.com.example.com', false],
    ['https://myapi.openai.com', false],
    ['https://a.b.api.openai.com', false],
    ['https://api.openai.community', false],
  ])('%s → %s', (url, expected) => {
    expect(isOpenai(new URL(url))).toBe(expected)
  })
})
