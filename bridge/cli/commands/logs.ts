/** `logs`: prints the log of a local server that a bridge has started. */
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { olderLog } from '../../../shared/runtime/log-file.ts';
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
  let position: Position = { at: 0, log: await identityOf(path), older: await identityOf(olderLog(path)) };
  if (position.log === undefined) throw noLog(path);
  const { at, lines } = await tailOf(path, count);
  const missing = count - lines.length;
  const earlier =
    missing > 0 && position.older !== undefined ? await tailOf(olderLog(path), missing) : undefined;
  for (const line of [...(earlier?.lines ?? []), ...lines]) show(line);
  if (options.follow !== true) return;
  position = { ...position, at };
  const decoder = new TextDecoder();
  let rest = '';
  const showChunk = (chunk: Buffer): void => {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts) show(line);
  };
  for await (const _ of changes(settings.stateDir)) position = await readOn(path, position, showChunk);
}

/** The log files, and the position up to which the command has read. */
interface Position {
  /** Bytes. */
  at: number;
  log: string | undefined;
  older: string | undefined;
}

/** Prints the new bytes. If the log was rotated meanwhile, prints the rest of the older file first. */
async function readOn(
  path: string,
  { at, ...before }: Position,
  show: (chunk: Buffer) => void,
): Promise<Position> {
  const now = { log: await identityOf(path), older: await identityOf(olderLog(path)) };
  let from = at;
  if (now.older !== undefined && now.older !== before.older)
    from = await readFrom(olderLog(path), from, show);
  const size = (await stat(path).catch(() => undefined))?.size ?? 0;
  // After a rotation the log is shorter or another file, so the command reads it from the start.
  if (now.log !== before.log || size < from) from = 0;
  return { ...now, at: await readFrom(path, from, show) };
}

/** @returns the position after the last byte */
async function readFrom(path: string, from: number, show: (chunk: Buffer) => void): Promise<number> {
  const file = await open(path, 'r').catch(() => undefined);
  if (file === undefined) return from;
  let at = from;
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK), 0, CHUNK, at);
    if (bytesRead === 0) break;
    at += bytesRead;
    show(buffer.subarray(0, bytesRead));
  }
  await file.close();
  return at;
}

function noLog(path: string): ProductError {
  return new ProductError(
    'CONFIGURATION',
    `There is no ${path}: no server was started from here yet. "mcp-a2a-bridge server start" starts one; a server that you have started by hand logs to its own stderr.`,
  );
}

/** Undefined if there is no such file. */
async function identityOf(path: string): Promise<string | undefined> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found && `${found.dev}:${found.ino}`;
}

async function tailOf(path: string, count: number): Promise<{ at: number; lines: readonly string[] }> {
  const file = await open(path, 'r');
  const { size } = await file.stat();
  const from = Math.max(0, size - TAIL);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
  await file.close();
  const text = buffer.subarray(0, bytesRead).toString('utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  const lines = whole === '' ? [] : whole.slice(0, -1).split('\n');
  // A line appears only when it is complete.
  const at = from + Buffer.byteLength(whole);
  return { at, lines: count === 0 ? [] : lines.slice(-count) };
}

/** Yields at the start and after each change in the directory, so the reader misses nothing. */
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
