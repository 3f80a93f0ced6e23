import { block, choice, flag, textOrNone, whole, wholeOrNone } from './config-fields.ts'

export const reflectConfigSchema = block('The second reviewer, who follows the implementation after approval.', {
  enabled: flag(false, 'Review code changes, failed commands and the end of a session.'),
  model: textOrNone('model', 'For reviews. Unset: review.models.code.'),
  fast_model: textOrNone('model', 'For summaries and small changes. Unset: the same as for reviews.'),
  timeout_seconds: whole(100, 1, 3600, 'For one call.'),
  max_content_chars: whole(400_000, 1000, 10_000_000, 'Longer content is sent as its head, a summary and its tail.'),
  condense_over_chars: whole(1500, 100, 1_000_000, 'Longer answers are condensed to five points.'),
  dedup: block('The memory that keeps the same change from being reviewed twice in a session.', {
    ttl_seconds: whole(300, 0, 86_400, 'How long a verdict is remembered.'),
    max_entries: whole(100, 1, 10_000, 'How many verdicts are remembered.'),
  }),
  traceability: choice(
    ['advisory', 'blocking', 'off'],
    'advisory',
    'At the end, changes the plan does not name and steps without a change are mentioned, keep Claude from stopping, or are not looked for.',
  ),
  max_calls: wholeOrNone(0, 100_000, 'Calls in one session. Unset: no limit.'),
  max_tokens: wholeOrNone(0, 1_000_000_000, 'Tokens in one session. Unset: no limit.'),
  quiet_seconds: whole(0, 0, 3600, 'Changes to a file that follow each other within this time share one review.'),
})
