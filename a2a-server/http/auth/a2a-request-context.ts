import { Extensions } from '@a2a-js/sdk';
import { ServerCallContext } from '@a2a-js/sdk/server';
import { A2AError } from '@a2a-js/sdk/errors';
import { Deferred } from '../../../shared/runtime/deferred.ts';
import { isLimitRefusal, ProductError } from '../../../shared/runtime/errors.ts';
import type { Logger } from '../../../shared/runtime/logging.ts';
import { AGENT_COMMAND_EXTENSION } from '../../../shared/protocol/agent-command.ts';
import {
  LAST_EVENT_ID_HEADER,
  RESUMABLE_STREAM_EXTENSION,
} from '../../../shared/protocol/resumable-stream-extension.ts';
import { THINKING_EXTENSION, TOOL_APPROVAL_EXTENSION } from '../../../shared/protocol/extensions.ts';
import type { EventVisibility } from '../../task/generation.ts';
import { type Caller, senderFactsOf } from './caller.ts';
import type { OutputModes } from '../wire/output-modes.ts';
import { retryLaterOf, toWireError } from '../wire/wire-errors.ts';
import type { RetryLater, WireFormat } from '../wire/wire-errors.ts';
import { parseRequestedGenerations, type RequestedGenerations } from '../wire/generation-field.ts';
import type { ServerDraftProtocol } from '../wire/draft-protocols.ts';
import type { WireOptions } from '../wire/build-messages-and-artifacts.ts';

const OFFERED_EXTENSIONS: ReadonlySet<string> = new Set([
  TOOL_APPROVAL_EXTENSION,
  RESUMABLE_STREAM_EXTENSION,
  AGENT_COMMAND_EXTENSION,
  THINKING_EXTENSION,
]);

/** The A2A 0.3 name of EXTENSIONS_HEADER. */
export const LEGACY_EXTENSIONS_HEADER = 'X-A2A-Extensions';
/**
 * The request header that names the requested extensions (A2A 1.0 §3.2.6). In a response, the header names the active
 * extensions.
 */
export const EXTENSIONS_HEADER = 'A2A-Extensions';

interface A2aRequestFacts {
  caller: Caller;
  wire: WireFormat;
  requestedVersion: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The draft protocols that the server offers. The default is none. */
  draftProtocols?: readonly ServerDraftProtocol[] | undefined;
  log: Logger;
}

export class A2aRequestContext extends ServerCallContext {
  readonly caller: Caller;
  readonly wire: WireFormat;
  /**
   * The stream position in the header `Last-Event-ID`, not yet checked. With the resumable-stream extension, the
   * position is a `seq`. Otherwise it is a generation (A2A 1.1). Undefined without the header, or without the extension
   * and generations.
   */
  readonly cursor: { type: 'seq' | 'generation'; text: string } | undefined;
  /** True if the responses to this request have the generations of A2A 1.1. */
  readonly hasGenerations: boolean;
  /** The generations in the request's parameters. A route sets them after it has checked the parameters. */
  generations: RequestedGenerations = {};
  /**
   * Resolves when the server accepts a request for a stream. From then on, the response is a stream, even before the
   * first event.
   */
  readonly accepted: Promise<void>;
  readonly accept: () => void;

  /** Set if a limit has refused the request. A JSON-RPC response then also gets the HTTP status of this refusal. */
  retryLater: RetryLater | undefined;

  readonly #log: Logger;

  constructor({ caller, wire, requestedVersion, headers, log, draftProtocols = [] }: A2aRequestFacts) {
    const names = headers[EXTENSIONS_HEADER.toLowerCase()];
    const legacyNames = headers[LEGACY_EXTENSIONS_HEADER.toLowerCase()];
    const requested = Extensions.parseServiceParameter(
      [names, wire === 'jsonrpc-0.3' ? legacyNames : undefined].flat().filter(Boolean).join(','),
    );
    super({ requestedExtensions: requested, user: caller, requestedVersion });
    this.#log = log;
    this.caller = caller;
    this.wire = wire;
    const accepted = new Deferred<void>();
    this.accepted = accepted.promise;
    this.accept = () => accepted.resolve();
    // A2A 1.0 §4.6: an extension is active if the client requests it and the agent supports it.
    for (const uri of requested) if (OFFERED_EXTENSIONS.has(uri)) this.addActivatedExtension(uri);
    this.hasGenerations = draftProtocols.includes('a2a-1.1') && wire !== 'jsonrpc-0.3';
    const text = headers[LAST_EVENT_ID_HEADER.toLowerCase()]?.toString();
    const type = this.resumes ? 'seq' : this.hasGenerations ? 'generation' : undefined;
    this.cursor = type && text !== undefined ? { type, text } : undefined;
  }

  /** Narrows the SDK's context to the class that this server's routes create. */
  static of(context: ServerCallContext): A2aRequestContext {
    if (context instanceof A2aRequestContext) return context;
    throw new TypeError('the request handler was called with a context that is not its own');
  }

  /** Returns the error for the client of this request. Logs errors that the client did not cause. */
  refusal(error: unknown): A2AError {
    if (this.wire !== 'rest') this.logIfForbidden(error);
    if (isLimitRefusal(error)) this.retryLater = retryLaterOf(error);
    else if (!(error instanceof A2AError) && !(error instanceof ProductError && !error.retryable))
      this.#log.error({ err: error, principal: this.caller.principal }, 'a request failed');
    return toWireError(error, this.wire);
  }

  /**
   * Logs the refusal of a JSON-RPC request that the token does not allow (A2A 1.0 §13.4). The response has the HTTP
   * status 200, so the error handler of all routes does not log it.
   */
  logIfForbidden(error: unknown): void {
    if (!(error instanceof ProductError) || error.reason !== 'FORBIDDEN') return;
    const { operation } = this.caller.facts;
    this.#log.warn({ operation, ...senderFactsOf(this.caller) }, 'a request was refused');
  }

  /** True if the client can read pending actions and send decisions as data. */
  get speaksApproval(): boolean {
    return this.#hasExtension(TOOL_APPROVAL_EXTENSION);
  }

  /** True if the client can resume a stream from a cursor. */
  get resumes(): boolean {
    return this.#hasExtension(RESUMABLE_STREAM_EXTENSION);
  }

  /** Sets the generations from the parameters, if the request may have generations. @throws ProductError MALFORMED */
  setGenerations(operation: string, params: unknown): void {
    if (this.hasGenerations) this.generations = parseRequestedGenerations(operation, params);
  }

  get sight(): EventVisibility {
    return this.#hasExtension(THINKING_EXTENSION) ? { thinking: true } : {};
  }

  wireOptions(task: { taskId: string; sessionId: string }, outputModes?: OutputModes): WireOptions {
    return {
      taskId: task.taskId,
      sessionId: task.sessionId,
      approval: this.speaksApproval,
      resumable: this.resumes,
      reader: this.caller.reader,
      ...this.sight,
      ...(this.hasGenerations && { generations: true }),
      ...(outputModes && { outputModes }),
    };
  }

  #hasExtension(extension: string): boolean {
    return this.activatedExtensions?.includes(extension) ?? false;
  }
}
