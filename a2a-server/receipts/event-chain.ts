/**
 * Computes the hash chain over a task's events. Hash n is the SHA-256 (hex) of hash n−1 and of the canonical JSON of
 * event n, so the last hash covers every event and their order. Pure.
 */
import { stringify } from 'safe-stable-stringify';
import { sha256 } from '../../shared/runtime/sha256.ts';
import type { JournalEntry } from '../task/events.ts';

/** Returns hash 0. It contains the task id, so two tasks with equal events have different chains. */
export function firstChainHash(taskId: string): string {
  return sha256(`mcp-a2a-bridge receipt 1\n${taskId}`);
}

export function nextChainHash(hash: string, { seq, at, event }: JournalEntry): string {
  return sha256(`${hash}\n${stringify({ seq, at, event })}`);
}
