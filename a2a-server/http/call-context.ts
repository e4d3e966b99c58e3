/** What the request handler knows of one call: who asks, how they are answered, which extensions they speak. */
import { Extensions } from '@a2a-js/sdk';
import { ServerCallContext } from '@a2a-js/sdk/server';
import { A2AError } from '@a2a-js/sdk/errors';
import { ProductError } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logging.ts';
import { AGENT_COMMAND } from '../../shared/protocol/agent-command.ts';
import { LAST_EVENT_ID, RESUMABLE_STREAM } from '../../shared/protocol/resumable-stream.ts';
import { TOOL_APPROVAL } from '../../shared/protocol/tool-approval.ts';
import type { Caller } from './caller.ts';
import { toWireError } from './wire-errors.ts';
import type { Wire } from './wire-errors.ts';
import type { View } from './wire-objects.ts';

const OFFERED: ReadonlySet<string> = new Set([TOOL_APPROVAL, RESUMABLE_STREAM, AGENT_COMMAND]);

/** A2A 0.3 spells the header of A2A 1.0 §3.2.6 with a prefix. */
export const LEGACY_EXTENSIONS_HEADER = 'X-A2A-Extensions';
export const EXTENSIONS_HEADER = 'A2A-Extensions';

interface Call {
  caller: Caller;
  wire: Wire;
  requestedVersion: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  log: Logger;
}

export class CallContext extends ServerCallContext {
  readonly caller: Caller;
  readonly wire: Wire;
  /** The cursor a client resumes from, as it came. Without the resumable-stream extension it means nothing. */
  readonly cursor: string | undefined;
  /** Resolves once a stream's request has been accepted: from here on it is a stream, whenever its first event comes. */
  readonly accepted: Promise<void>;
  /** Says so. */
  readonly accept: () => void;

  readonly #log: Logger;

  constructor({ caller, wire, requestedVersion, headers, log }: Call) {
    const names = headers[EXTENSIONS_HEADER.toLowerCase()];
    const legacyNames = headers[LEGACY_EXTENSIONS_HEADER.toLowerCase()];
    const requested = Extensions.parseServiceParameter(
      [names, wire === 'jsonrpc-0.3' ? legacyNames : undefined].flat().filter(Boolean).join(','),
    );
    super({ requestedExtensions: requested, user: caller, requestedVersion });
    this.#log = log;
    this.caller = caller;
    this.wire = wire;
    const { promise, resolve } = withResolvers();
    this.accepted = promise;
    this.accept = resolve;
    // A2A 1.0 §4.6: an extension is active when the client asked for it and the agent knows it; the answer names it.
    for (const uri of requested) if (OFFERED.has(uri)) this.addActivatedExtension(uri);
    this.cursor = this.#speaks(RESUMABLE_STREAM)
      ? headers[LAST_EVENT_ID.toLowerCase()]?.toString()
      : undefined;
  }

  /** The context of a call that came through this server's routes; there are no others. */
  static of(context: ServerCallContext): CallContext {
    if (context instanceof CallContext) return context;
    throw new TypeError('the request handler was called with a context that is not its own');
  }

  /** The error as this call's client is told of it. What they could not have caused is logged. */
  refusal(error: unknown): A2AError {
    if (!(error instanceof A2AError) && !(error instanceof ProductError && !error.retryable))
      this.#log.error({ err: error, principal: this.caller.principal }, 'a request failed');
    return toWireError(error, this.wire);
  }

  /** Whether the client can read pending actions as data, and answer them so. */
  get speaksApproval(): boolean {
    return this.#speaks(TOOL_APPROVAL);
  }

  view(task: { taskId: string; sessionId: string }): View {
    return {
      taskId: task.taskId,
      sessionId: task.sessionId,
      approval: this.speaksApproval,
      resumable: this.#speaks(RESUMABLE_STREAM),
    };
  }

  #speaks(extension: string): boolean {
    return this.activatedExtensions?.includes(extension) ?? false;
  }
}

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let settle: (() => void) | undefined;
  const promise = new Promise<void>((resolve) => (settle = resolve));
  return { promise, resolve: () => settle?.() };
}
