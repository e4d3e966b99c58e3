/** How the process ends when it cannot go on. */

/** sysexits.h EX_CONFIG: it will not work before something is changed. */
export const EXIT_CONFIGURATION = 78;
export const EXIT_FAILURE = 1;
/** As shells have it: the command line was not understood. */
export const EXIT_USAGE = 2;
