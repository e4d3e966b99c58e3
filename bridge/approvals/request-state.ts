/**
 * Signs the `requestState` of a tool call (MCP 2026-07-28, multi round-trip requests). If the person must answer forms,
 * the client sends the same tool call in several requests, called rounds. The client keeps the state and sends it back
 * with the answers. Server requirements 4 and 5: "servers MUST protect its integrity".
 */
import { createHash } from 'node:crypto';
import {
  createRequestStateCodec,
  ProtocolError,
  ProtocolErrorCode,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { stringify } from 'safe-stable-stringify';
import { z } from 'zod';
import { readOrCreateTokenFile } from '../../shared/state/token-file.ts';

/** The lifetime of a state: one hour. After that, the client's next tool call asks the person again. */
const VALID_SECONDS = 60 * 60;

/** A tool call as the client sends it. The request of the next round repeats it exactly. */
export interface CallNameAndArguments {
  name: string;
  arguments: Readonly<Record<string, unknown>>;
}

const roundState = z.discriminatedUnion('about', [
  /**
   * The person was asked about a session. `count` is the number of rounds, including this one. The agent is absent in a
   * state that an earlier version of the bridge signed.
   */
  z.object({
    about: z.literal('session'),
    sessionId: z.string().min(1),
    agent: z.string().min(1).optional(),
    count: z.number().int().min(1),
  }),
  /**
   * The person was asked whether a task may start with the settings in the tool call. `id` names the permit, which is
   * valid for one task. `directory` is the workspace that the form showed. `askedAt` is in milliseconds since 1970.
   */
  z.object({
    about: z.literal('permit'),
    id: z.string().min(1),
    directory: z.string().min(1),
    askedAt: z.number(),
  }),
]);
export type FormRoundState = z.infer<typeof roundState>;

const signedState = z.object({ call: z.string(), state: roundState });

/** The answers to the forms of the previous round, by form key. They are not validated yet. */
interface RoundResponses {
  responses: Readonly<Record<string, unknown>>;
}
export type AnsweredFormRound = FormRoundState & RoundResponses;
export type AnsweredSessionRound = Extract<AnsweredFormRound, { about: 'session' }>;
export type AnsweredPermitRound = Extract<AnsweredFormRound, { about: 'permit' }>;

/** Signs and verifies states. All bridges with the same state directory share the key. */
export class RequestStateSigner {
  readonly #stateDirectory: string;
  #codec: Promise<RequestStateCodec> | undefined;

  constructor(stateDirectory: string) {
    this.#stateDirectory = stateDirectory;
  }

  /**
   * Signs the state of a tool call for its next round.
   * @throws ProductError CONFIGURATION if the key cannot be read or created
   */
  async sign(state: FormRoundState, call: CallNameAndArguments): Promise<string> {
    return (await this.#loadCodec()).mint({ call: digestOf(call), state });
  }

  /**
   * Verifies a signed state, and returns its payload for `findAnsweredRound`.
   * @throws Error if the signature is invalid or the state has expired
   */
  async verify(text: string, context: ServerContext): Promise<unknown> {
    if (!isCanonical(text)) throw new Error('malformed');
    return (await this.#loadCodec()).verify(text, context);
  }

  #loadCodec(): Promise<RequestStateCodec> {
    this.#codec ??= readOrCreateTokenFile(this.#stateDirectory, 'request-state-key')
      .then((key) => createRequestStateCodec({ key, ttlSeconds: VALID_SECONDS }))
      .catch((error: unknown) => {
        this.#codec = undefined; // The next tool call tries again.
        throw error;
      });
    return this.#codec;
  }
}

/**
 * Returns the round that a request belongs to. Returns undefined for the first request of a tool call.
 * @throws ProtocolError "invalid params" for answers without a state, or for the state of another tool call
 */
export function findAnsweredRound(
  { requestState, inputResponses }: ServerContext['mcpReq'],
  call: CallNameAndArguments,
): AnsweredFormRound | undefined {
  const given = requestState();
  if (given === undefined && inputResponses === undefined) return undefined;
  const signed = signedState.safeParse(given).data;
  if (signed === undefined || signed.call !== digestOf(call)) throw invalidRequestStateError();
  return { ...signed.state, responses: inputResponses ?? {} };
}

/** The error for an invalid state, with the same message that the SDK uses if `verify` throws. */
function invalidRequestStateError(): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState', {
    reason: 'invalid_request_state',
  });
}

function digestOf({ name, arguments: args }: CallNameAndArguments): string {
  return createHash('sha256')
    .update(stringify([name, args]) ?? '')
    .digest('base64url');
}

/**
 * Returns true if the signature is in canonical base64url. Several texts can decode to the same bytes, and only one of
 * them is accepted.
 */
function isCanonical(text: string): boolean {
  const signature = text.slice(text.lastIndexOf('.') + 1);
  return Buffer.from(signature, 'base64url').toString('base64url') === signature;
}
