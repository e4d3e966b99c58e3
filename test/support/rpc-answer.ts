/** Writes JSON-RPC requests and parses their answers. */
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import type { RawResponse } from './raw-connection.ts';

const rpcError = z.object({
  code: z.number(),
  message: z.string(),
  data: z.array(z.looseObject({ metadata: z.record(z.string(), z.string()).optional() })).optional(),
});
const rpcAnswer = z.union([z.object({ error: rpcError }), z.object({ result: z.unknown() })]);

/** A typed error answer. */
export class Refusal extends Error {
  readonly code: number;
  readonly reason: string | undefined;
  readonly facts: Readonly<Record<string, string>>;

  constructor({ code, message, data }: z.infer<typeof rpcError>) {
    super(message);
    this.code = code;
    this.facts = data?.find(({ metadata }) => metadata !== undefined)?.metadata ?? {};
    this.reason = this.facts['reason'];
  }
}

/** Returns the Refusal that a promise rejects with. */
export async function refusal(work: Promise<unknown>): Promise<Refusal> {
  const outcome = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome instanceof Refusal) return outcome;
  throw outcome ?? new Error('it was not refused');
}

export function rpcBody(method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
}

/** @throws Error with the status and the body, if the body is not JSON */
export async function jsonOf({ status, body }: RawResponse): Promise<unknown> {
  const text = (await buffer(body)).toString();
  try {
    const json: unknown = JSON.parse(text);
    return json;
  } catch {
    throw new Error(`status ${status}, and no JSON: ${text}`);
  }
}

/** @throws Refusal */
export function resultOf(answer: unknown): unknown {
  const parsed = rpcAnswer.parse(answer);
  if ('error' in parsed) throw new Refusal(parsed.error);
  return parsed.result;
}
