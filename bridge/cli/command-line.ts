/** How a person runs this very program at a terminal, with the settings that a running bridge has. Pure. */
import { basename, delimiter, dirname } from 'node:path';
import { quote } from 'shell-quote';

const NAME = 'mcp-a2a-bridge';

export interface Program {
  /** The built main file, an absolute path. */
  script: string;
  /** What was started: `process.argv[1]`. */
  started: string | undefined;
  /** The variable PATH. */
  path: string | undefined;
}

/** Settings that a terminal does not know by itself. */
export interface Place {
  /** Undefined where it is the default. */
  stateDir: string | undefined;
  configFile: string | undefined;
  agentUrl: string | undefined;
}

/** @returns the beginning of a command line: a command of the bridge goes after it */
export function commandLine({ script, started = '', path = '' }: Program, place: Place): string {
  const installed = basename(started) === NAME && path.split(delimiter).includes(dirname(started));
  const flags = Object.entries({
    '--state-dir': place.stateDir,
    '--config': place.configFile,
    '--agent-url': place.agentUrl,
  }).flatMap(([flag, value]) => (value === undefined ? [] : [flag, value]));
  return quote([...(installed ? [NAME] : ['node', script]), ...flags]);
}
