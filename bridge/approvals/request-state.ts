/**
 * Signs the request state of a tool call (MCP `requestState`). A client may send one call as several requests; each is a
 * round. The client keeps the state and sends it back with the answers to the forms. MCP 2026-07-28, multi round-trip
 * requests, server requirements 4 and 5: "servers MUST protect its integrity".
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
import { obtainToken } from '../../shared/state/token-file.ts';

/** A state is valid for one hour. After that, the client's next call asks the person again. */
const VALID_SECONDS = 60 * 60;

/** A tool call as its client sends it. The next round repeats it exactly. */
export interface CallNameAndArguments {
  name: string;
  arguments: Readonly<Record<string, unknown>>;
}

const roundState = z.discriminatedUnion('about', [
  /** The person was asked about a session. `count`: the number of rounds, including this one. */
  z.object({ about: z.literal('session'), sessionId: z.string().min(1), count: z.number().int().min(1) }),
  /**
   * The person was asked whether a task may start with the call's settings. `id` names the permit, which starts one
   * task. `directory`: the workspace that the form showed. `askedAt`: milliseconds since 1970.
   */
  z.object({
    about: z.literal('permit'),
    id: z.string().min(1),
    directory: z.string().min(1),
    askedAt: z.number(),
  }),
]);
export type RoundState = z.infer<typeof roundState>;

const signedState = z.object({ call: z.string(), state: roundState });

/** Answers to the forms of an earlier round, by form key, not yet validated. */
interface Responses {
  responses: Readonly<Record<string, unknown>>;
}
export type Round = RoundState & Responses;
export type SessionRound = Extract<Round, { about: 'session' }>;
export type PermitRound = Extract<Round, { about: 'permit' }>;

/** Signs states with a key that all bridges of one state directory share. */
export class RequestStates {
  readonly #stateDirectory: string;
  #codec: Promise<RequestStateCodec> | undefined;

  constructor(stateDirectory: string) {
    this.#stateDirectory = stateDirectory;
  }

  /**
   * Signs the state of a call for its next round.
   * @throws ProductError CONFIGURATION when the key cannot be read or made
   */
  async sign(state: RoundState, call: CallNameAndArguments): Promise<string> {
    return (await this.#opened()).mint({ call: digestOf(call), state });
  }

  /**
   * Verifies a signed state.
   * @returns the payload, for `roundOf`. @throws when the signature is invalid or the state has expired
   */
  async verify(text: string, context: ServerContext): Promise<unknown> {
    if (!isCanonical(text)) throw new Error('malformed');
    return (await this.#opened()).verify(text, context);
  }

  #opened(): Promise<RequestStateCodec> {
    this.#codec ??= obtainToken(this.#stateDirectory, 'request-state-key')
      .then((key) => createRequestStateCodec({ key, ttlSeconds: VALID_SECONDS }))
      .catch((error: unknown) => {
        this.#codec = undefined; // The next call tries again.
        throw error;
      });
    return this.#codec;
  }
}

/**
 * Returns the round that a request belongs to; undefined for the first request.
 * @throws ProtocolError invalid params for answers without a state, and for the state of another call
 */
export function roundOf(
  { requestState, inputResponses }: ServerContext['mcpReq'],
  call: CallNameAndArguments,
): Round | undefined {
  const given = requestState();
  if (given === undefined && inputResponses === undefined) return undefined;
  const signed = signedState.safeParse(given).data;
  if (signed === undefined || signed.call !== digestOf(call)) throw invalidState();
  return { ...signed.state, responses: inputResponses ?? {} };
}

/** Uses the message that the SDK uses for a state that `verify` rejects. */
function invalidState(): ProtocolError {
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
 * Some bits of the last base64url character are unused, so several texts decode to the same bytes. Only one is valid.
 */
function isCanonical(text: string): boolean {
  const signature = text.slice(text.lastIndexOf('.') + 1);
  return Buffer.from(signature, 'base64url').toString('base64url') === signature;
}
