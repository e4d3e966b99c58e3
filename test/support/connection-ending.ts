/** The ways a client's connection can end after it has read enough (E4). */
import { writtenMessage } from './a2a-message.ts';
import type { A2aPeer, MessageOptions } from './a2a-peer.ts';
import { rpcBody } from './rpc-answer.ts';
import type { EventStream } from './event-stream.ts';
import type { RawConnection } from './raw-connection.ts';

interface ConnectionEnding {
  name: string;
  headers?: Readonly<Record<string, string>>;
  /** Called after the client has sent its request. */
  sent?(connection: RawConnection): void;
  /** Called after the first event has arrived. */
  begun?(connection: RawConnection): void;
  /** Ends the connection of a stream after its task has parked. @returns the connection for the next request */
  leave(stream: EventStream, peer: A2aPeer): Promise<RawConnection>;
}

/** The client has announced its last request. So the server completes the stream and then closes the connection. */
async function closedByServer(stream: EventStream, peer: A2aPeer): Promise<RawConnection> {
  await stream.rest();
  await stream.connection.ended();
  return peer.connect();
}

export const ENDINGS: readonly ConnectionEnding[] = [
  {
    name: 'kept alive for the next request',
    async leave(stream) {
      await stream.rest();
      return stream.connection;
    },
  },
  { name: 'closed by the server', headers: { Connection: 'close' }, leave: closedByServer },
  {
    name: 'reset by the client',
    async leave(stream, peer) {
      stream.connection.reset();
      await stream.connection.closed;
      return peer.connect();
    },
  },
  {
    name: 'half-closed after the request',
    sent: (connection) => connection.halfClose(),
    leave: closedByServer,
  },
  {
    name: 'half-closed in mid-stream',
    begun: (connection) => connection.halfClose(),
    leave: closedByServer,
  },
];

/** Delegates a task over a new connection that will end in this way. @returns the stream after its first event */
export async function delegate(
  peer: A2aPeer,
  ending: ConnectionEnding,
  { text, ...options }: MessageOptions & { text: string },
): Promise<EventStream> {
  const connection = await peer.connect();
  const body = rpcBody('SendStreamingMessage', { message: writtenMessage(text, options) });
  peer.write(connection, '/', { body, ...(ending.headers && { headers: ending.headers }) });
  ending.sent?.(connection);
  const stream = await peer.opened(connection);
  await stream.next();
  ending.begun?.(connection);
  return stream;
}
