/**
 * Measures the window in which the client shows forms. A client in a terminal starts the bridge as its child process. So
 * both have the same controlling terminal.
 */
import { closeSync, openSync } from 'node:fs';
import { WriteStream } from 'node:tty';
import { z } from 'zod';

/**
 * Returns the width of the controlling terminal, in columns. Returns undefined if there is none, for example in an
 * editor or in a service.
 */
export function clientTerminalColumns(): number | undefined {
  let terminal: number;
  try {
    terminal = openSync('/dev/tty', 'r+');
  } catch {
    return undefined;
  }
  let stream: WriteStream;
  try {
    stream = new WriteStream(terminal);
  } catch {
    closeSync(terminal);
    return undefined;
  }
  const { columns } = stream;
  const opened = descriptorOf(stream);
  stream.destroy();
  // libuv usually opens the terminal again. The stream closes only that second descriptor, so the first descriptor is
  // closed here.
  if (opened !== undefined && opened !== terminal) closeSync(terminal);
  // Some terminals report 0 columns, because they do not know their width.
  return columns > 0 ? columns : undefined;
}

const handle = z.object({ fd: z.number() });

function descriptorOf(stream: WriteStream): number | undefined {
  return handle.safeParse(Reflect.get(stream, '_handle')).data?.fd;
}
