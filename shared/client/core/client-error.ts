/** The errors of this library, grouped by what the caller can do. */

export type ClientErrorCode =
  /** No answer: a network failure, a stopped server, or a page whose origin the server does not allow. Try again later. */
  | 'unreachable'
  /** The server rejected the request or failed. `reason` is the server's name for the error, if it sent one. */
  | 'refused'
  /** The answer does not fit the protocol. */
  | 'malformed-answer'
  /** The answer was lost. A retry could repeat the effect, so check the state first. */
  | 'outcome-unknown'
  /** The caller aborted the request before the task had an id. */
  | 'aborted'
  /** The caller stopped listening. The task continues. */
  | 'detached';

interface ClientErrorDetail {
  /** The HTTP status, if there was an answer. */
  status?: number;
  /** The server's name for the error, e.g. `UNKNOWN_TASK`. */
  reason?: string;
  /** True if the same request, unchanged, may succeed later. */
  retryable?: boolean;
  /** Details that a program may read, e.g. `{ firstDecision: 'approve' }`. */
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

/** The error for a fetch that failed without an answer, or for a body that could not be read. */
export function unreachable(url: string, cause: unknown): ClientError {
  return new ClientError(
    'unreachable',
    `${url} could not be reached. Check that the server runs. For a web page, the server must also allow its origin.`,
    { cause },
  );
}
