/** The exit codes that both programs have. */

export const EXIT_FAILURE = 1;
/** The command line was not valid. Shells use the same code. */
export const EXIT_USAGE = 2;
/** The exit code EX_CONFIG of sysexits.h: a restart helps only after a change of the configuration. */
export const EXIT_CONFIGURATION = 78;
