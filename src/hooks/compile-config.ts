import { inlineCommands } from '../gate/loaded-text.ts'
import * as compiler from '../install/compile-config.ts'
import { readTrust } from '../install/trust.ts'

/** All that reads YAML, as one bundle: the parser is half of its size. */
export const { recompileConfig, restoreConfig } = compiler
export const yamlReaders = { inlineCommands, readTrust }
