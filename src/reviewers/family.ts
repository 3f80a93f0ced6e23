/** For people: what a reviewer of the planner's own family is worth. null for another family. */
export const familyAdvice = ({ backend, model }: { backend: string; model: string | null }): string | null =>
  backend === 'claude' || /claude|anthropic/i.test(model ?? '')
    ? 'Claude reviews what Claude has planned: models of one family miss the same things, so a reviewer of another family is advised'
    : null
