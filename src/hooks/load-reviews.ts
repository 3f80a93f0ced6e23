import { loadModule } from './load-module.ts'

type Reviews = typeof import('./reviews.ts')['reviews']

/** What a review needs is loaded only by the calls that bring one about: most do not. */
export const loadReviews = async (): Promise<Reviews> =>
  ((await loadModule('reviews')) as typeof import('./reviews.ts')).reviews
