/** JSON-RPC requests as texts, and what their answers say. */
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import type { RawResponse } from './raw-connection.ts';

const rpcError = z.object({
  code: z.number(),
  message: z.string(),
  data: z.array(z.looseObject({ metadata: z.record(z.string(), z.string()).optional() })).optional(),
});
const rpcAnswer = z.union([z.object({ error: rpcError }), z.object({ result: z.unknown() })]);

/** A typed answer that says no. */
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

/** What a promise was refused with. */
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

export async function jsonOf({ body }: RawResponse): Promise<unknown> {
  const json: unknown = JSON.parse((await buffer(body)).toString());
  return json;
}

/** @throws Refusal */
export function resultOf(answer: unknown): unknown {
  const parsed = rpcAnswer.parse(answer);
  if ('error' in parsed) throw new Refusal(parsed.error);
  return parsed.result;
}
