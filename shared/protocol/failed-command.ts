/** Tells a shell command that failed from one that succeeded. Both have the outcome `ok`: the tool has run to its end. */

/** The tool of the local server that runs shell commands. Its summary ends with how the command ended. */
export const SHELL_TOOL = 'run-shell-command';

const FAILED = / (exited with code (?!0$)\w+|was ended by \w+)$/;

/** Returns how the command failed, such as `exited with code 3`. Returns undefined for a success and for other tools. */
export function commandFailure({ tool, summary }: { tool: string; summary: string }): string | undefined {
  return tool === SHELL_TOOL ? FAILED.exec(summary)?.[1] : undefined;
}
