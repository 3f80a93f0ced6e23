/** Three revisions of a plan as people write them, for the pictures and the tests of the report. */
const head = `# Limit sign-in attempts

## Goal

After five wrong passwords in fifteen minutes, further attempts for that account are answered with 429 until the
fifteen minutes are over. A right password before that resets the count.
`

const context = `## Context

- \`src/auth/sign-in.ts:31\` compares the password and opens the session; nothing counts what went wrong.
- \`src/store/redis.ts\` is the only shared store; every instance of the service reaches it.
- Support sees lock-outs today only as tickets, about four a week.
`

export const firstPlan = `${head}
${context}
## Approach

Count wrong passwords in the memory of the process, by account name. When the count reaches five, answer 429 without
looking at the password.

A CAPTCHA was considered and left out: it needs a third party, and the mobile client cannot show one.

## Changes

- \`src/auth/sign-in.ts\` (changed): ask the counter before the password is compared.
- \`src/auth/attempt-counter.ts\` (new): count, reset, and say how long to wait.
- \`test/auth/sign-in.test.ts\` (changed): five wrong ones, then 429.

## Verification

\`npm test -- test/auth\`, then by hand: six wrong passwords in a row.

## Risks

Somebody can lock out somebody else on purpose.

## Open Questions

None.
`

export const secondPlan = `${head}
${context}
## Approach

Count wrong passwords in Redis, by account name and by address, so that all instances see the same count. Each key
expires fifteen minutes after its first wrong password. When the count reaches five, answer 429 without looking at the
password, with \`Retry-After\`.

If Redis cannot be reached, sign-in goes on without a limit and the failure is logged: nobody is locked out by an
outage.

A CAPTCHA was considered and left out: it needs a third party, and the mobile client cannot show one.

## Changes

- \`src/auth/sign-in.ts\` (changed): ask the counter before the password is compared.
- \`src/auth/attempt-counter.ts\` (new): count, reset, and say how long to wait.
- \`test/auth/sign-in.test.ts\` (changed): five wrong ones, then 429; a right one resets.

## Verification

\`npm test -- test/auth\`, then by hand: six wrong passwords in a row.

## Risks

Somebody can lock out somebody else on purpose. Counting by account *and* address keeps that to one address.

## Open Questions

None.
`

export const thirdPlan = `${head}
${context}
## Approach

Count wrong passwords in Redis, by account name and by address, so that all instances see the same count. \`INCR\` and
\`EXPIRE\` go in one \`MULTI\`, so that no key is left without an end. Each key expires fifteen minutes after its first
wrong password. When the count reaches five, answer 429 without looking at the password, with \`Retry-After\`.

If Redis cannot be reached, sign-in goes on without a limit and the failure is logged: nobody is locked out by an
outage. An alert fires when that lasts longer than a minute.

A CAPTCHA was considered and left out: it needs a third party, and the mobile client cannot show one.

## Changes

- \`src/auth/sign-in.ts\` (changed): ask the counter before the password is compared.
- \`src/auth/attempt-counter.ts\` (new): count, reset, and say how long to wait.
- \`src/store/redis.ts\` (changed): \`multi()\`, which the counter needs.
- \`test/auth/sign-in.test.ts\` (changed): five wrong ones, then 429; a right one resets.
- \`test/auth/attempt-counter.test.ts\` (new): two instances, one count; an outage of Redis; a key always expires.

## Verification

\`npm test -- test/auth\` against a real Redis, then by hand: six wrong passwords in a row, and the same from another
address.

## Risks

Somebody can lock out somebody else on purpose. Counting by account *and* address keeps that to one address.

## Open Questions

None.
`
