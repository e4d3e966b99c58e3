import { execFile } from 'node:child_process';
import { parseJson } from '../../../shared/text/parse-json.ts';

interface ParsedServerOutput {
  /** The parsed standard output. Undefined if it is no JSON. */
  json: unknown;
  /** The last line of the standard error, or the reason why the program was killed. */
  said: string;
}

const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;

/**
 * Runs a command of a2a-server and parses its output.
 * @param script the path of the built a2a-server
 * @param timeoutMs the time limit in milliseconds, after which the process is killed
 */
export async function runServerCommand(
  script: string,
  args: readonly string[],
  timeoutMs: number,
): Promise<ParsedServerOutput> {
  const options = { timeout: timeoutMs, maxBuffer: MAX_OUTPUT_BYTES };
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], options, (error, stdout, stderr) => {
      const tooLate = error?.killed === true && error.code !== 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER';
      const said = tooLate ? tooLateText(timeoutMs) : (stderr.trim().split('\n').at(-1) ?? '');
      resolve({ json: parseJson(stdout), said });
    });
  });
}

function tooLateText(timeoutMs: number): string {
  return `The server program did not answer within ${String(timeoutMs / 1_000)} s. Try again when the machine is less busy.`;
}

/** Returns the flags with which a2a-server reads the same settings as the bridge. */
export function serverSettingsFlags({
  stateDir,
  configFile,
}: {
  stateDir: string;
  configFile: string | undefined;
}): string[] {
  return ['--state-dir', stateDir, ...(configFile === undefined ? [] : ['--config', configFile])];
}
