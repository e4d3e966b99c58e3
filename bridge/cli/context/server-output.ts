/** Runs a command of the server program to its end. */
import { execFile } from 'node:child_process';

export interface ServerOutput {
  /** Undefined if stdout is no JSON. */
  json: unknown;
  /** The last line of stderr. */
  said: string;
}

const MAX_OUTPUT = 4 * 1024 * 1024;

/** @param script the built a2a-server. @param timeoutMs then it ends the program */
export async function serverOutput(
  script: string,
  args: readonly string[],
  timeoutMs: number,
): Promise<ServerOutput> {
  const options = { timeout: timeoutMs, maxBuffer: MAX_OUTPUT };
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], options, (_error, stdout, stderr) =>
      resolve({ json: parsed(stdout), said: stderr.trim().split('\n').at(-1) ?? '' }),
    );
  });
}

/** The flags that make the server program read the same settings as the bridge's server. */
export function settingsFlags({
  stateDir,
  configFile,
}: {
  stateDir: string;
  configFile: string | undefined;
}): string[] {
  return ['--state-dir', stateDir, ...(configFile === undefined ? [] : ['--config', configFile])];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
