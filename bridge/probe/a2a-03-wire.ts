/** Converts the methods, parameters and answers that the checks need between A2A 1.0 and 0.3. Pure. */
import { METHOD_NOT_FOUND } from '../../shared/net/json-rpc-codes.ts';
import { z } from 'zod';
import { type A2aWire, JsonRpcError } from './json-rpc-client.ts';

const METHODS: Readonly<Record<string, string>> = {
  SendMessage: 'message/send',
  SendStreamingMessage: 'message/stream',
  GetTask: 'tasks/get',
  CancelTask: 'tasks/cancel',
  SubscribeToTask: 'tasks/resubscribe',
};

const sending = z.object({
  message: z.looseObject({ role: z.string(), parts: z.array(z.looseObject({ text: z.string() })) }),
});
const status = z.looseObject({ state: z.string() });
const kinds = z.discriminatedUnion('kind', [
  z.looseObject({ kind: z.literal('task'), status }),
  z.looseObject({ kind: z.literal('status-update'), status }),
  z.looseObject({ kind: z.literal('artifact-update') }),
  z.looseObject({ kind: z.literal('message') }),
]);

/** Speaks A2A 0.3 for a caller that knows only the methods, parameters and answers of A2A 1.0. */
export const A2A_03: A2aWire = {
  method: toA2a03Method,
  params: toA2a03Params,
  // In A2A 1.0, the answer to a message is wrapped in `task` or `message`. The other methods return the task itself.
  answer: (method, result) =>
    method === 'SendMessage' ? fromA2a03Result(result) : fromA2a03Result(result)['task'],
  event: fromA2a03Result,
};

function toA2a03Method(method: string): string {
  const old = METHODS[method];
  if (old === undefined)
    throw new JsonRpcError({ code: METHOD_NOT_FOUND, message: `A2A 0.3 has no ${method}` });
  return old;
}

function toA2a03Params(params: unknown): unknown {
  const sent = sending.safeParse(params).data;
  if (sent === undefined) return params;
  const { message } = sent;
  const parts = message.parts.map(({ text }) => ({ kind: 'text', text }));
  return {
    message: { ...message, kind: 'message', role: 'user', parts },
    // A2A 0.3 §7.1.2: `blocking` demands an answer only when the task has ended. In A2A 1.0, this is the default.
    configuration: { blocking: true },
  };
}

function fromA2a03Result(raw: unknown): Readonly<Record<string, unknown>> {
  const told = kinds.parse(raw);
  switch (told.kind) {
    case 'task':
      return { task: { ...told, status: fromA2a03Status(told.status) } };
    case 'status-update':
      return { statusUpdate: { ...told, status: fromA2a03Status(told.status) } };
    case 'artifact-update':
      return { artifactUpdate: told };
    case 'message':
      return { message: told };
  }
}

/** Converts a status of A2A 0.3 to 1.0: `input-required` becomes `TASK_STATE_INPUT_REQUIRED`. */
const fromA2a03Status = (old: z.infer<typeof status>): object => ({
  ...old,
  state: `TASK_STATE_${old.state.toUpperCase().replaceAll('-', '_')}`,
});
