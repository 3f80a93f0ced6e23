export type Stop = 'deadline' | 'cancelled'

/**
 * One signal for everything that an act does: the caller's own, and the deadline. Not `AbortSignal.any`, whose result
 * could be collected before it fired.
 */
export async function withDeadline<T>(
  timeoutMs: number,
  cancelled: AbortSignal,
  act: (signal: AbortSignal, stoppedBy: () => Stop | null) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  let stoppedBy: Stop | null = null
  const stop = (by: Stop): void => {
    stoppedBy ??= by
    controller.abort()
  }
  const cancel = (): void => stop('cancelled')
  const timer = setTimeout(() => stop('deadline'), timeoutMs)
  cancelled.addEventListener('abort', cancel, { once: true })
  if (cancelled.aborted) cancel()
  try {
    return await act(controller.signal, () => stoppedBy)
  } finally {
    clearTimeout(timer)
    cancelled.removeEventListener('abort', cancel)
  }
}
