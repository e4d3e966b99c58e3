/** Builds the command line that runs the bridge in a terminal with the settings of a running program. Pure. */
import { basename, delimiter, dirname } from 'node:path';
import { quote } from 'shell-quote';

const NAME = 'mcp-a2a-bridge';

interface ProgramFile {
  /** The bridge's built main file, an absolute path. */
  script: string;
  /** The started file of the bridge: `process.argv[1]`. */
  started: string | undefined;
  /** The variable PATH. */
  path: string | undefined;
}

/** Settings of the running program that a terminal does not have. */
interface TerminalSettings {
  /** Undefined if it is the default. */
  stateDir: string | undefined;
  configFile: string | undefined;
  agentUrl?: string | undefined;
}

/** @returns the start of a command line; a command of the bridge follows */
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
