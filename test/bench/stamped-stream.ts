/** Reads a stream whose text is times, and computes the delay of each time. Does as little work as possible. */
import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { RESUMABLE_STREAM_EXTENSION } from '../../shared/protocol/resumable-stream-extension.ts';
import type { Agent } from './agent.ts';

interface StreamRequest {
  path: string;
  headers?: Readonly<Record<string, string>>;
  /** With a body, the request is a POST. Without a body, the request is a GET. */
  body?: string;
}

export interface StampedStream {
  /** The id of the stream's task. Resolves with the first event. */
  taskId: Promise<string>;
  /** The delay of each time stamp, in milliseconds. Rejects if the stream ends before its task has completed. */
  delays: Promise<number[]>;
}

const STAMP = /@(\d+\.\d+);/g;
const TASK_ID = /task-[0-9a-f-]{36}/;

export function stampedStream(agent: Agent, asked: StreamRequest): StampedStream {
  let delays: Promise<number[]> | undefined;
  const taskId = new Promise<string>((resolve, reject) => {
    delays = readAll(agent, asked, resolve);
    delays.catch(reject);
  });
  if (delays === undefined) throw new Error('the stream was not read');
  return { taskId, delays };
}

async function readAll(
  agent: Agent,
  asked: StreamRequest,
  onTask: (taskId: string) => void,
): Promise<number[]> {
  const delays: number[] = [];
  let held = '';
  let last = '';
  for await (const bytes of await streamOf(agent, asked)) {
    const now = performance.timeOrigin + performance.now();
    const text = held + String(bytes);
    const [taskId] = TASK_ID.exec(text) ?? [];
    if (taskId !== undefined) onTask(taskId);
    const whole = text.lastIndexOf('\n\n') + 2;
    held = text.slice(whole);
    last = text;
    for (const [, sent] of text.slice(0, whole).matchAll(STAMP)) delays.push(now - Number(sent));
  }
  if (!last.includes('TASK_STATE_COMPLETED')) throw new Error(`the stream ended with ${last.slice(-500)}`);
  return delays;
}

/** Opens the stream on a new connection. */
export async function streamOf(
  { url, token }: Agent,
  { path, headers, body }: StreamRequest,
): Promise<IncomingMessage> {
  const outgoing = request(new URL(path, url), {
    agent: false,
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'A2A-Version': '1.0',
      'A2A-Extensions': RESUMABLE_STREAM_EXTENSION,
      'Content-Type': 'application/json',
      ...headers,
    },
  });
  outgoing.end(body);
  const [response]: IncomingMessage[] = await once(outgoing, 'response');
  if (response?.statusCode !== 200) throw new Error(`status ${String(response?.statusCode)} came`);
  return response;
}
