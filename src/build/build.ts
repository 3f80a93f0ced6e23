import { bundle } from './bundle.ts'
import { compileValidators } from './compile-validators.ts'

await compileValidators()
await bundle()
