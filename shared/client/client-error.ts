/** What can go wrong for a client, split by what the caller can do about it. */

export type ClientErrorCode =
  /** No answer: the network, the server, or a browser that may not call it. The same may succeed later. */
  | 'unreachable'
  /** The server said no, or could not. `reason` is its own name for it, where it gave one. */
  | 'refused'
  /** What came back is not what the protocol says. */
  | 'malformed-answer'
  /** The answer was lost, and asking again could do it twice: look before you do. */
  | 'outcome-unknown'
  /** Taken back by the caller, before there was anything to cancel. */
  | 'aborted'
  /** The caller has stopped listening. The work goes on. */
  | 'detached';

export interface ClientErrorDetail {
  /** The HTTP status, where there was an answer. */
  status?: number;
  /** The server's name for the failure, e.g. `UNKNOWN_TASK`. */
  reason?: string;
  /** Whether the same request may succeed later without being changed. */
  retryable?: boolean;
  /** What a program may read of it, e.g. `{ firstDecision: 'approve' }`. */
  facts?: Readonly<Record<string, string>>;
  cause?: unknown;
}

/** The only error this library throws. Its message says what to do next. */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly code: ClientErrorCode;
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly retryable: boolean;
  readonly facts: Readonly<Record<string, string>>;

  constructor(code: ClientErrorCode, message: string, detail: ClientErrorDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.code = code;
    this.status = detail.status;
    this.reason = detail.reason;
    this.retryable = detail.retryable ?? code === 'unreachable';
    this.facts = detail.facts ?? {};
  }
}

/** A fetch, or the reading of its body, that failed without an answer. */
export function unreachable(url: string, cause: unknown): ClientError {
  return new ClientError(
    'unreachable',
    `${url} could not be reached. Is the server running? A page also needs its origin allowed there.`,
    { cause },
  );
}
