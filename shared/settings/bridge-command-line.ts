/** Builds the command line that runs the bridge in a terminal with the settings of a running program. */
import { basename, delimiter, dirname } from 'node:path';
import { quote } from 'shell-quote';

const NAME = 'mcp-a2a-bridge';

interface ProgramFile {
  /** The bridge's built main file, an absolute path. */
  script: string;
  /** The file with which this process was started: `process.argv[1]`. */
  started: string | undefined;
  path: string | undefined;
}

/** Settings of the running program that a terminal does not have. */
interface TerminalSettings {
  /** Undefined if the state directory is the default one. */
  stateDir: string | undefined;
  configFile: string | undefined;
  agentUrl?: string | undefined;
}

/** Returns the start of a command line. The caller appends a command of the bridge. */
export function commandLine(
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
