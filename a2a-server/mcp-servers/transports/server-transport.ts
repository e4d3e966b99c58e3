/** What all ways to an MCP server have in common. */
import type { Transport } from '@modelcontextprotocol/client';
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/logging.ts';
import type { ChildEntry } from '../../processes/child-processes.ts';

/** A line, an event or an answer that is longer ends its connection or its call, in bytes (X3). */
export const MAX_MESSAGE = 16 * 1024 * 1024;

/** A message that the server has certainly not seen, over a connection that has ended or is about to. */
export class NotDelivered extends Error {
  override readonly name = 'NotDelivered';
}

export interface ServerTransport extends Transport {
  /** What is known of why it ended, or says so little, as a sentence without its subject and its end. */
  readonly trouble: string | undefined;
}

export interface TransportContext {
  clock: Clock;
  /** Names the server. */
  log: Logger;
  /** How long a stopped process may take to end before it is killed, in milliseconds. */
  graceMs: number;
  /** What child processes get a part of. */
  environment: Readonly<Record<string, string | undefined>>;
  /** Where the process is recorded. */
  child: ChildEntry;
}
