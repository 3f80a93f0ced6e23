import type { BackendName, ReviewType } from '../schemas/backend.ts'
import type { EffectiveConfig } from '../schemas/config.ts'

/** Codex knows a model of its own, which the user chose there; for a plan it is asked with nothing else in mind. */
export function chooseModel(
  type: ReviewType,
  backend: BackendName,
  { documents, code, plan }: EffectiveConfig['review']['models'],
): string | null {
  switch (type) {
    case 'code':
      return code
    case 'plan':
      return plan ?? (backend === 'codex' ? null : documents)
    case 'prd':
    case 'sdd':
    case 'sprint':
      return documents
  }
}
