import { join } from 'node:path';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { readLastLines, showNewLogContent } from '../../local-server/log-reader.ts';
import { watchDirectory } from '../../local-server/watch-directory.ts';
import { jsonLogLine, logLine } from '../terminal/log-line.ts';
import { readNumberOption } from '../terminal/option-value.ts';
import type { CommandRun } from '../context/run-command.ts';

interface LogsOptions {
  follow?: boolean;
  lines?: string;
}

const DEFAULT_LINES = '50';

/**
 * Prints the last lines of the local server's log. With `--follow`, also prints each new line.
 * @throws ProductError CONFIGURATION if there is no log; UsageError
 */
export async function logsCommand({ options, settings, terminal }: CommandRun<LogsOptions>): Promise<void> {
  const count = readNumberOption('--lines', options.lines ?? DEFAULT_LINES, { min: 0 });
  const path = join(settings.stateDir, 'server.log');
  const show = (line: string): void => {
    terminal.json(jsonLogLine(line));
    terminal.say(logLine(line, terminal.paint));
  };
  const found = await readLastLines(path, count);
  if (found === undefined) throw noLogError(path);
  for (const line of found.lines) show(line);
  if (options.follow !== true) return;
  let { position } = found;
  const decoder = new TextDecoder();
  let rest = '';
  const showChunk = (chunk: Buffer): void => {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts) show(line);
  };
  for await (const _ of directoryChanges(settings.stateDir))
    position = await showNewLogContent(path, position, showChunk);
}

function noLogError(path: string): ProductError {
  return new ProductError(
    'CONFIGURATION',
    `There is no ${path}: no server was started from here yet. "mcp-a2a-bridge server start" starts one; a server that you have started by hand logs to its own stderr.`,
  );
}

/**
 * Yields once at the start, and then after each change in the directory. The caller reads the log each time and so
 * misses no line.
 */
async function* directoryChanges(directory: string): AsyncGenerator<void> {
  let wake: (() => void) | undefined;
  let changed = true;
  const stopWatching = watchDirectory(directory, () => {
    changed = true;
    wake?.();
  });
  try {
    for (;;) {
      if (!changed) await new Promise<void>((resolve) => (wake = resolve));
      changed = false;
      yield;
    }
  } finally {
    stopWatching();
  }
}
