/**
 * Encodes and parses the wake-ups that servers send each other with `NOTIFY`. A payload names tasks that have new
 * entries, each with its last `seq`. Pure.
 */
import { z } from 'zod';
import { parseJson } from '../../../shared/text/parse-json.ts';

/** The longest payload in bytes. PostgreSQL refuses 8,000 bytes and more. */
export const MAX_PAYLOAD_BYTES = 7_999;

/** The last `seq` of tasks, by task id. */
export type HeadSeqs = ReadonlyMap<string, number>;

interface WakeMessage {
  /** The id of the server that sent the message. */
  sender: string;
  heads: HeadSeqs;
}

const payloadSchema = z.tuple([z.string()], z.tuple([z.string(), z.int().positive()]));

/**
 * Returns payloads that together contain all tasks of the message with their last `seq`. A task id that is too long for
 * a payload is left out. Other servers find its entries when they next query the last `seq` of their tasks.
 */
export function wakePayloads({ sender, heads }: WakeMessage): string[] {
  const start = `[${JSON.stringify(sender)}`;
  const payloads: string[] = [];
  let payload = start;
  for (const head of heads) {
    const item = `,${JSON.stringify(head)}`;
    if (byteLength(start) + byteLength(item) + 1 > MAX_PAYLOAD_BYTES) continue;
    if (byteLength(payload) + byteLength(item) + 1 > MAX_PAYLOAD_BYTES) {
      payloads.push(`${payload}]`);
      payload = start;
    }
    payload += item;
  }
  if (payload !== start) payloads.push(`${payload}]`);
  return payloads;
}

/** Parses a payload. Returns undefined for a payload of another program. */
export function parseWakePayload(payload: string): WakeMessage | undefined {
  const parsed = payloadSchema.safeParse(parseJson(payload));
  if (!parsed.success) return undefined;
  const [sender, ...heads] = parsed.data;
  return { sender, heads: new Map(heads) };
}

function byteLength(text: string): number {
  return Buffer.byteLength(text);
}
