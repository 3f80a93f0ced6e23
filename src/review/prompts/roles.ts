import type { ReviewType } from '../../schemas/backend.ts'

type Role = {
  readonly who: string
  /** Only for who can look into the repository. */
  readonly ofTheRepository?: readonly string[]
  readonly questions: readonly string[]
}

/** Who reads, and what for. Each question is one that a reviewer can answer by looking. */
export const roles: { readonly [type in ReviewType]: Role } = {
  plan: {
    who: `You review the plan of a change to software before any of it is written. Nothing may be built until you approve,
and what you let through will be built as it stands.`,
    ofTheRepository: [
      'Is what the plan says about the existing code true? Check the files, functions and commands that it names.',
    ],
    questions: [
      'Does the approach reach the goal? Walk through the main case, then through the first thing that goes wrong.',
      'Is every file that has to change listed under "## Changes": callers, tests, migrations, configuration, documents?',
      'Is anything listed that the goal does not need?',
      'What breaks for those who use it today: data that exists, interfaces, half-finished runs, two at the same time?',
      'How would a failure be noticed, and how is the change taken back?',
      'Which test fails before the change and passes after it? A plan without one is not finished.',
      'Could one who was not there carry it out without guessing? Name each step where they would have to guess.',
      'Is there an open question that only the user can settle? That is DECISION_NEEDED. One that reading the code settles is a finding.',
    ],
  },
  code: {
    who: `You review a change to code. It is merged if you approve it, and it runs for people who cannot look inside.`,
    questions: [
      'Does it do what it is meant to do, and what happens on the first input that its author did not think of?',
      'Which callers, data or settings that exist does it break?',
      'Can input reach a command, a query, a path or a page unchecked? Is a secret written, logged or sent?',
      'What happens when a call fails halfway, hangs, or runs twice at the same time?',
      'Does each test fail without the change? Is there a changed branch that no test reaches?',
      'Is an interface, file, option or function used that does not exist, or not in this form?',
    ],
  },
  prd: {
    who: `You review a product requirements document. Designs are made from it, so what it leaves open will be guessed.`,
    questions: [
      'Can each requirement be tested as it is written? Which number, state or actor is missing?',
      'Do two requirements contradict each other, or one of them the stated goal?',
      'Who is harmed or left out: users, operators, data that exists, those who must comply with the law?',
      'What is explicitly not included, and does anything included depend on it?',
      'How will one know that it worked: which measure, from which value to which, by when?',
    ],
  },
  sdd: {
    who: `You review a software design document. Work is planned from it, so a hole in it becomes a hole in the product.`,
    questions: [
      'Does each requirement have a place in the design, and each part of the design a requirement?',
      'Is each interface complete: types, errors, limits, versions, who calls whom?',
      'What happens when each dependency is slow, absent, wrong or called twice?',
      'Where does data live, who may change it, how is it migrated and how is it restored?',
      'Where does untrusted input enter, and what stands between it and what it could harm?',
      'Is there a simpler design that meets the same requirements? Name what it would give up.',
    ],
  },
  sprint: {
    who: `You review a plan for a sprint. People start on it tomorrow and will not ask again.`,
    questions: [
      'Does each task say when it is done, so that two people would agree?',
      'Which task needs the result of another that comes later, or of nobody?',
      'Does the sum of the tasks reach the goal of the sprint? What is missing: tests, migration, documents, rollout?',
      'Which task is too large to be reviewed as one, or hides a decision?',
      'What is the first thing that will go wrong, and does the plan notice it in time?',
    ],
  },
}
