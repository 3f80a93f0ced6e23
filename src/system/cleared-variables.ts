/**
 * What node 20 to 26, OpenSSL, ICU and glibc obey before any of our code runs: they load code, read or write a file that
 * it names, print beside the answer, or take stdin or stdout for a channel of their own (NODE_CHANNEL_FD).
 */
export const clearedVariables = (): string[] => [...startVariables(), ...restoredVariables()]

/** Of one process only. */
export const startVariables = (): string[] =>
  (
    'NODE_OPTIONS NODE_PATH NODE_V8_COVERAGE NODE_COMPILE_CACHE NODE_REDIRECT_WARNINGS NODE_DEBUG NODE_DEBUG_NATIVE ' +
    'NODE_PENDING_DEPRECATION NODE_REPL_EXTERNAL_MODULE NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE NODE_UNIQUE_ID ' +
    'NODE_TEST_CONTEXT WATCH_REPORT_DEPENDENCIES'
  ).split(' ')

/** Hooks run without them, their reviewers with the user's own. */
export const restoredVariables = (): string[] =>
  (
    'NODE_EXTRA_CA_CERTS NODE_USE_SYSTEM_CA NODE_USE_ENV_PROXY OPENSSL_CONF OPENSSL_CONF_INCLUDE OPENSSL_MODULES ' +
    'OPENSSL_ENGINES SSLKEYLOGFILE NODE_ICU_DATA ICU_DATA ICU_TIMEZONE_FILES_DIR TZ TZDIR'
  ).split(' ')
