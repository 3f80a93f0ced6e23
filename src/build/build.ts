import { compileValidators } from './compile-validators.ts'

await compileValidators()
