/**
 * Measures the window in which the client shows forms. A client in a terminal starts the bridge as its child process. So
 * both have the same controlling terminal.
 */
import { closeSync, openSync } from 'node:fs';
import { WriteStream } from 'node:tty';

/**
 * Returns the width of the controlling terminal, in columns. Returns undefined if there is none, for example in an
 * editor or in a service.
 */
export function terminalColumns(): number | undefined {
  let terminal: number;
  try {
    terminal = openSync('/dev/tty', 'r+');
  } catch {
    return undefined;
  }
  try {
    const stream = new WriteStream(terminal);
    const { columns } = stream;
    stream.destroy();
    // Some terminals report a width of 0 columns: they do not know it.
    return columns > 0 ? columns : undefined;
  } catch {
    closeSync(terminal);
    return undefined;
  }
}
