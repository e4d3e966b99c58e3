export type ClientErrorCode =
  /**
   * The server sent no response. Possible causes: the network failed, the server is stopped, or the server does not
   * allow the page's origin. The caller can try again later.
   */
  | 'unreachable'
  /**
   * The server rejected the request, or failed. `reason` is the server's name for the error, if the server sent one.
   */
  | 'refused'
  | 'malformed-answer'
  /**
   * The response was lost, so the outcome of the request is unknown. A retry could repeat its effect, so the caller
   * must check the state first.
   */
  | 'outcome-unknown'
  /** The caller aborted the request before the server had sent the task id. */
  | 'aborted'
  /** The caller stopped following the task. The task continues. */
  | 'detached';

interface ClientErrorDetail {
  status?: number;
  /** The server's name for the error, e.g. `UNKNOWN_TASK`. */
  reason?: string;
  /** True if the same request may succeed later without a change. */
  retryable?: boolean;
  /** Details of the error that a program can use, e.g. `{ firstDecision: 'approve' }`. */
  facts?: Readonly<Record<string, string>>;
  cause?: unknown;
}

/** The error class of this library. The message tells a person what to do next. */
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

/** Returns the error for a request without a response, or for a response whose body could not be read. */
export function unreachableError(url: string, cause: unknown): ClientError {
  return new ClientError(
    'unreachable',
    `${url} could not be reached. Check that the server runs. For a web page, the server must also allow its origin.`,
    { cause },
  );
}
