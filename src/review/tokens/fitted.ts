/** `dropped`: one sentence for the notice; null where nothing of it is missing. */
export type Fitted = { readonly text: string; readonly dropped: string | null }

export type Count = (text: string) => number

/** How one kind of text is made to fit. It aims at the budget; `fitText` sees to it that it is kept. */
export type Fit = (text: string, budget: number, count: Count) => Fitted
