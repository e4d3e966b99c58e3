/** Builds a shell command line that runs the bridge with the same settings as the running program. */
import { basename, delimiter, dirname } from 'node:path';
import { quote } from 'shell-quote';

const NAME = 'mcp-a2a-bridge';

interface ProgramFile {
  /** The absolute path of the bridge's built main file. */
  script: string;
  /** The file that this process was started with (`process.argv[1]`). */
  started: string | undefined;
  path: string | undefined;
}

/** Settings of the running program that a command in a terminal would not use by itself. */
interface TerminalSettings {
  /** The state directory. Undefined if it is the default directory. */
  stateDir: string | undefined;
  configFile: string | undefined;
  agentUrl?: string | undefined;
}

/** Returns the start of a command line. The caller appends a command of the bridge, such as `decide`. */
export function bridgeCommandLine(
  { script, started = '', path = '' }: ProgramFile,
  place: TerminalSettings,
): string {
  const installed = basename(started) === NAME && path.split(delimiter).includes(dirname(started));
  const flags = Object.entries({
    '--state-dir': place.stateDir,
    '--config': place.configFile,
    '--agent-url': place.agentUrl,
  }).flatMap(([flag, value]) => (value === undefined ? [] : [flag, value]));
  return quote([...(installed ? [NAME] : ['node', script]), ...flags]);
}
