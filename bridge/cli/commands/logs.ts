/** `logs`: prints the log of a local server that a bridge has started. */
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { ProductError, systemErrorCode } from '../../../shared/runtime/errors.ts';
import { watchDirectory } from '../../local-server/watch-directory.ts';
import { UsageError } from '../terminal/exit-codes.ts';
import { jsonLine, logLine } from '../terminal/log-line.ts';
import type { CommonOptions, CommandRun } from '../context/run-command.ts';

interface LogsOptions extends CommonOptions {
  follow?: boolean;
  lines?: string;
}

const SHOWN = 50;
/** How many bytes at the end of the file are searched for its last lines. */
const TAIL = 4 * 1024 * 1024;
const CHUNK = 64 * 1024;

/** @throws ProductError CONFIGURATION if there is no log; UsageError */
export async function logs({ options, settings, terminal }: CommandRun<LogsOptions>): Promise<void> {
  const count = options.lines === undefined ? SHOWN : Number(options.lines);
  if (!Number.isInteger(count) || count < 0) throw new UsageError('--lines takes a number of lines, from 0.');
  const path = join(settings.stateDir, 'server.log');
  const show = (line: string): void =>
    terminal.say(options.json === true ? jsonLine(line) : logLine(line, terminal.paint));
  let file = await opened(path);
  let { at, lines } = await tailOf(file, count);
  for (const line of lines) show(line);
  if (options.follow !== true) return file.close();
  let rest = '';
  const decoder = new TextDecoder();
  const readOn = async (): Promise<void> => {
    const { size } = await file.stat();
    if (size < at) at = 0;
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK), 0, CHUNK, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      const parts = (rest + decoder.decode(buffer.subarray(0, bytesRead), { stream: true })).split('\n');
      rest = parts.pop() ?? '';
      for (const line of parts) show(line);
    }
  };
  for await (const _ of changes(settings.stateDir)) {
    await readOn();
    const replaced = await replacedBy(path, file);
    if (replaced === undefined) continue;
    await file.close();
    file = replaced;
    at = 0;
    rest = '';
    // Read now: the file may not change again.
    await readOn();
  }
}

async function opened(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT') throw error;
    throw new ProductError(
      'CONFIGURATION',
      `There is no ${path}: no server was started from here yet. "mcp-a2a-bridge server start" starts one; a server that you have started by hand logs to its own stderr.`,
      { cause: error },
    );
  }
}

async function tailOf(file: FileHandle, count: number): Promise<{ at: number; lines: readonly string[] }> {
  const { size } = await file.stat();
  const from = Math.max(0, size - TAIL);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
  const text = buffer.subarray(0, bytesRead).toString('utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  const lines = whole === '' ? [] : whole.slice(0, -1).split('\n');
  // A line is shown once it is complete.
  const at = from + Buffer.byteLength(whole);
  return { at, lines: count === 0 ? [] : lines.slice(-count) };
}

/** Yields at the start and after each change in the directory, so nothing written before the watch is missed. */
async function* changes(directory: string): AsyncGenerator<void> {
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

/** A start of the server may rename a large log. The command then continues with the new file. */
async function replacedBy(path: string, file: FileHandle): Promise<FileHandle | undefined> {
  const newest = await open(path, 'r').catch(() => undefined);
  if (newest === undefined) return undefined;
  const [now, before] = await Promise.all([newest.stat(), file.stat()]);
  if (now.ino !== before.ino) return newest;
  await newest.close();
  return undefined;
}
