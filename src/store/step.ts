/** Told before each change to the disk, so that a test can kill the process exactly there. */
export type Step = (name: string) => void

export const noStep: Step = () => {}
