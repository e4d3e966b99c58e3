import { execFile } from 'node:child_process';

export interface ServerOutput {
  json: unknown;
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
): Promise<ServerOutput> {
  const options = { timeout: timeoutMs, maxBuffer: MAX_OUTPUT_BYTES };
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], options, (_error, stdout, stderr) =>
      resolve({ json: parsed(stdout), said: stderr.trim().split('\n').at(-1) ?? '' }),
    );
  });
}

/** Returns the flags with which a2a-server reads the same settings as the bridge. */
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
