/**
 * `GET /api/tasks/:taskId/events` sends a task's events as server-sent events (WHATWG HTML §9.2). curl, browsers and
 * other clients need no A2A headers for this route. Each event has the HTTP+JSON form of A2A 1.0, with the data of the
 * tool-approval and resumable-stream extensions.
 *
 * The route only reads, so it works while the server shuts down.
 */
import { Router } from 'express';
import type { Request, RequestHandler } from 'express';
import { z } from 'zod';
import type { Logger } from '../../../shared/runtime/logging.ts';
import {
  LAST_EVENT_ID_HEADER,
  RESUMABLE_STREAM_EXTENSION,
} from '../../../shared/protocol/resumable-stream-extension.ts';
import { TOOL_APPROVAL_EXTENSION } from '../../../shared/protocol/extensions.ts';
import type { TaskService } from '../../executor/task-service.ts';
import { TERMINAL_STATES } from '../../task/snapshot.ts';
import { A2aRequestContext, EXTENSIONS_HEADER } from '../auth/a2a-request-context.ts';
import { callerOf } from '../auth/caller.ts';
import { validateRequestInput } from '../wire/validate-request-input.ts';
import { parseCursor } from '../streams/event-cursor.ts';
import { restStreamFormat } from './rest-response.ts';
import { respondWithStream } from '../streams/stream-response.ts';
import type { StreamTickets } from '../auth/stream-ticket.ts';
import type { DisconnectHandler } from '../streams/on-disconnect.ts';
import { streamEventsAfter } from '../streams/task-stream.ts';

export const EVENTS_PATH = '/api/tasks/:taskId/events';

/**
 * The time that an EventSource waits before it reconnects. A stopping server closes its sockets in this time, and the
 * next server may already run.
 */
const RETRY_MS = 2_000;

const BOTH_EXTENSIONS = {
  [EXTENSIONS_HEADER.toLowerCase()]: `${TOOL_APPROVAL_EXTENSION},${RESUMABLE_STREAM_EXTENSION}`,
};

interface EventsOptions {
  heartbeatMs: number;
  log: Logger;
  disconnects: DisconnectHandler;
}

/** Returns the handler. An earlier middleware must have authenticated the caller. */
export function createEventsHandler(
  tasks: TaskService,
  { heartbeatMs, log, disconnects }: EventsOptions,
): RequestHandler {
  return async (request, response) => {
    const caller = callerOf(request);
    const row = await tasks.row(taskIdOf(request), caller.requester);
    const after = positionIn(request, row.seq);
    // A reader that has all events of an ended task gets status 204. Otherwise an EventSource would reconnect after
    // every end of the stream (WHATWG HTML §9.2).
    if (after === row.seq && TERMINAL_STATES.has(row.state)) {
      response.status(204).end();
      return;
    }
    // RFC 9110 §9.3.2: the response to HEAD has the headers of the stream and no body.
    if (request.method === 'HEAD') {
      response.type('text/event-stream').end();
      return;
    }
    const context = new A2aRequestContext({
      caller,
      wire: 'rest',
      requestedVersion: '1.0',
      headers: BOTH_EXTENSIONS,
      log,
    });
    await respondWithStream(response, {
      events: streamEventsAfter({ tasks, disconnects }, { row, after }, context),
      context,
      heartbeatMs,
      retryMs: RETRY_MS,
      format: restStreamFormat(response),
    });
  };
}

/**
 * `POST …/events/ticket` returns `{ticket, expiresAt}`. A client with a token gets a ticket, with which a
 * reader without a token can read the stream.
 */
export function streamTicketRoute(tasks: TaskService, tickets: StreamTickets): Router {
  const router = Router();
  router.post(`${EVENTS_PATH}/ticket`, async (request, response) => {
    const { identity, requester } = callerOf(request);
    const { taskId } = await tasks.row(taskIdOf(request), requester);
    const { ticket, expiresAt } = await tickets.issue(identity, taskId);
    response.json({ ticket, expiresAt: new Date(expiresAt).toISOString() });
  });
  return router;
}

/**
 * Returns the ticket parameter. If the URL has several, returns a text that no ticket has. X1: authentication then
 * fails, before other parameters are checked.
 */
export function streamTicketParameter({ query: { ticket } }: Request): string | undefined {
  return ticket === undefined || typeof ticket === 'string' ? ticket : 'more than one';
}

export function taskIdOf(request: Request): string {
  return String(request.params['taskId']);
}

const eventsQuery = z.strictObject({ after: z.string().optional(), ticket: z.string().optional() });

/**
 * Returns the start position. An EventSource that reconnects repeats its first URL and adds the header `Last-Event-ID`.
 * So the position in this header is newer than the position in the URL. Without a cursor, the stream starts at the
 * beginning.
 */
function positionIn(request: Request, end: number): number {
  const header = request.header(LAST_EVENT_ID_HEADER);
  // An unknown parameter is an error. S2: a misspelt cursor must not start the stream from the beginning.
  const { after = '0' } = validateRequestInput(
    eventsQuery,
    request.query,
    'This address takes only the parameters "after" and "ticket", each once',
  );
  return parseCursor(
    {
      ...(header === undefined
        ? { name: 'after', text: after }
        : { name: LAST_EVENT_ID_HEADER, text: header }),
      otherwise: 'Leave it out to read from the beginning.',
    },
    end,
  );
}
