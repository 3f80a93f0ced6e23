/** Fake secrets, composed so that no scanner takes this file for a leak. */
export const fakeSecrets = {
  github: `gh${'p_'}${'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6'}`,
  openai: `sk-${'proj-'}${'Zx9Yw8Vu7Ts6Rq5Po4Nm3Lk2Ji1Hg0Fe9Dc8Ba7'}`,
  aws: `AK${'IA'}${'Q3EGRZ7BXLMN4TUV'}`,
  slack: `xo${'xb-'}${'123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx'}`,
} as const

export const assigned = `api_key = "${fakeSecrets.openai}"`
