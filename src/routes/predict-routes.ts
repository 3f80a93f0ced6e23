import { askOnce, type ConditionFacts, evaluateConditions, needOf } from './conditions.ts'
import type { Route, RouteTable } from './route.ts'

/** `why` a row would not be the one that serves; null for the one that would. */
export type Prediction = { readonly route: Route; readonly why: string | null }

/** Who would serve now, without asking anybody. That a reviewer answers once it is asked is taken for granted. */
export async function predictRoutes(
  { routes }: Pick<RouteTable, 'routes'>,
  facts: ConditionFacts,
): Promise<readonly Prediction[]> {
  const asked = askOnce(facts)
  const predictions: Prediction[] = []
  /** The row after which nothing is reached, or only if that row fails. */
  let decided: { readonly why: string } | null = null
  for (const route of routes) {
    const conditions = await evaluateConditions(route.when, asked)
    const need = await evaluateConditions([needOf[route.backend]], asked)
    const unmet = conditions.holds ? (need.holds ? null : `it would fail: ${need.why}`) : conditions.why
    predictions.push({ route, why: unmet ?? decided?.why ?? null })
    if (decided === null && conditions.holds) decided = decidedBy(route, need.holds)
  }
  return predictions
}

function decidedBy({ backend, failMode }: Route, works: boolean): { readonly why: string } | null {
  switch (failMode) {
    case 'hard_fail':
      return {
        why: works ? `${backend} comes first, and ends the review` : `${backend} fails first, and ends the review`,
      }
    case 'fallthrough':
      return works ? { why: `${backend} comes first` } : null
  }
}
