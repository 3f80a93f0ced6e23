import type { Unavailability } from './plan-news.ts'

/** What happened, and what the user can do where the backend itself does not say. */
export const failureWords: { readonly [F in Unavailability]: { readonly what: string; readonly remedy: string } } = {
  'not-installed': {
    what: 'the reviewer is not installed',
    remedy: 'Install it, or name another one under review.routes in plan-gate.yaml.',
  },
  auth: { what: 'the reviewer has no valid login or key', remedy: 'Log in to it, or set its key.' },
  quota: {
    what: 'the quota of the account is used up',
    remedy: 'Top it up, wait until it is renewed, or name another reviewer under review.routes in plan-gate.yaml.',
  },
  'rate-limited': { what: 'the service takes no more requests for now', remedy: 'Wait a few minutes.' },
  timeout: {
    what: 'the reviewer did not answer in time',
    remedy: 'Try again; if it happens often, raise plan.deadline_seconds, or set review.fast in plan-gate.yaml.',
  },
  transport: { what: 'the service could not be reached', remedy: 'Check the network and the proxy.' },
  server: { what: 'the service failed', remedy: 'Try again later.' },
  malformed: { what: 'what the reviewer answered is not a review', remedy: 'Try again, or with another model.' },
  refused: { what: 'the model declined to review', remedy: 'Read why; another model may do it.' },
  rejected: { what: 'the request was not accepted', remedy: 'Check the model and its settings in plan-gate.yaml.' },
  crashed: {
    what: 'the reviewer ended unexpectedly',
    remedy: 'Try again; `plan-gate doctor` looks at the installation.',
  },
  cancelled: { what: 'the review was interrupted', remedy: 'Nothing has to be mended.' },
  'no-route': {
    what: 'no reviewer can be asked',
    remedy: '`plan-gate routes` says why each of them is not available.',
  },
  'not-recorded': {
    what: 'the files of plan-gate could not be read or written',
    remedy: 'Look at the space on the disk and at .claude/review; `plan-gate doctor` says more.',
  },
}
