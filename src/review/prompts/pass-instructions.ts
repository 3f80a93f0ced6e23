export type PassKind = 'plan' | 'review' | 'verify' | 'combined'

const findingForm = `{"id": null, "severity": "critical|major|minor|advice", "section": "heading or path:line", "problem": "…", "evidence": "…", "fix": "…"}`

const answerForm = `  "verdict": "APPROVED|CHANGES_REQUIRED|DECISION_NEEDED",
  "is_optimal": true exactly when the verdict is APPROVED,
  "summary": "two or three sentences",
  "question": null, or with DECISION_NEEDED what only the user can decide,
  "findings": [${findingForm}],
  "previous_findings": [{"id": "F1", "status": "fixed|rejected|not_fixed", "reason": "…"}]`

const answerAs = (form: string): string =>
  `## Your answer\nOne JSON object and nothing else, no text around it:\n{\n${form}\n}\n"id" is the id of the earlier finding that this one repeats, otherwise null.`

const firstForm = `  "context_summary": "what the next reader must know: scope, what depends on what, risks, gaps in the tests",
  "complexity": {"risk_area_count": 0, "files_affected": 0, "scope_category": "low|medium|high"},
${answerForm}`

/** What this pass is for. Each ends with the form of its answer, for backends that cannot be given a schema. */
export const passInstructions: { readonly [pass in PassKind]: string } = {
  plan: `## This pass: understand
You are the first of up to three readers. Find out what this is about before you judge: what is touched, what depends on
it, where it can go wrong, what no test would notice. Count the risk areas: parts where a mistake would reach a user.
Write down in "context_summary" what the next reader needs; be brief, they have the material too. Give the findings that
you already have and a verdict as if you were the only reader, because for a simple matter you will be.

${answerAs(firstForm)}`,
  review: `## This pass: find
You are the second reader. The first one's notes are handed to you: use them, and do not believe them. Go through the
material from beginning to end and write down what is wrong with it. Be quick where it is simple. Take over of the
first reader's findings what you find to be true.

${answerAs(answerForm)}`,
  verify: `## This pass: verify
You are the last reader, and did not write these findings. For each of them: does the place exist and does it say what is
quoted? Is the problem real and not only imaginable? Would the fix settle it and break nothing? Drop each finding that
fails, correct each that is nearly right, and set its severity by the definitions above. Add a finding only if it is
critical. Keep ids as they are. Then give the verdict that follows from what is left.

${answerAs(answerForm)}`,
  combined: `## This pass
You are the only reader. First understand what is touched and what depends on it, then write down what is wrong, then go
over your own findings and drop each whose place, problem or fix does not hold.

${answerAs(answerForm)}`,
}
