/**
 * Tests a task that two clients use. Another client continues the stream and decides, and all readers learn who
 * decided.
 */
import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { TOOL_APPROVAL_EXTENSION, type PendingAction } from '../../../shared/protocol/tool-approval.ts';
import { decisionOn, writtenMessage } from '../../support/a2a-message.ts';
import type { A2aPeer } from '../../support/a2a-peer.ts';
import { makeGate } from '../../support/gate.ts';
import { plan, shell } from '../../support/offline-plan.ts';
import { refusal, type Refusal } from '../../support/rpc-answer.ts';
import type { ServerProcess } from '../../support/server-process.ts';
import { sseFrames, type SseFrame } from '../../support/sse-frame.ts';
import { stage } from '../../support/stage.ts';
import { readEvent, type StreamEvent, type TaskView } from '../../support/wire-event.ts';

/** Sends decisions as a client of this channel. */
function decided(channel: string, pending: readonly PendingAction[], word: string): object {
  const decisions = [decisionOn(pending, word)];
  return { data: { extension: TOOL_APPROVAL_EXTENSION, decisions, channel } };
}

interface Sent {
  method?: string;
  headers?: Readonly<Record<string, string>>;
  body?: string;
}

function framesOf({ body }: Response): AsyncGenerator<SseFrame, void, undefined> {
  if (body === null) throw new Error('the answer has no body');
  return sseFrames(body);
}

/** A client that uses HTTP+JSON and the event route. It has only a token. */
class PlainClient {
  readonly #server: ServerProcess;

  constructor(server: ServerProcess) {
    this.#server = server;
  }

  /** Yields the events of the task after this seq, one at a time. */
  async *events(taskId: string, after: number): AsyncGenerator<StreamEvent, void, undefined> {
    const response = await this.#fetch(`/api/tasks/${taskId}/events?after=${after}`);
    for await (const { id, data } of framesOf(response)) {
      const event = readEvent(JSON.parse(data), data);
      expect(id).toBe(String(event.seq));
      yield event;
    }
  }

  /** @returns the HTTP status and the body of the response */
  async decide(taskId: string, part: object): Promise<{ status: number; body: unknown }> {
    const response = await this.#fetch('/message:send', {
      method: 'POST',
      headers: { 'A2A-Version': '1.0', 'Content-Type': 'application/json' },
      body: JSON.stringify({
        message: writtenMessage([part], { taskId }),
        configuration: { returnImmediately: true },
      }),
    });
    return { status: response.status, body: await response.json() };
  }

  /** Yields the task's stream as a 0.3 client gets it. */
  async *legacyEvents(taskId: string): AsyncGenerator<z.infer<typeof legacyEvent>, void, undefined> {
    const response = await this.#fetch('/', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tasks/resubscribe', params: { id: taskId } }),
    });
    for await (const { data } of framesOf(response))
      yield z.object({ result: legacyEvent }).parse(JSON.parse(data)).result;
  }

  #fetch(path: string, sent: Sent = {}): Promise<Response> {
    const headers = { Authorization: `Bearer ${this.#server.token}`, ...sent.headers };
    return fetch(this.#server.url + path, { ...sent, headers });
  }
}

const legacyEvent = z.object({
  kind: z.string(),
  final: z.boolean().optional(),
  status: z
    .object({
      state: z.string(),
      message: z.object({ parts: z.array(z.object({ text: z.string().optional() })) }).optional(),
    })
    .optional(),
});

const timed = z.object({ statusUpdate: z.object({ status: z.object({ timestamp: z.string() }) }) });

describe('a task that another client continues', () => {
  it('S1 a task continues after another client’s decision; every reader learns who decided what, when, and over which channel', async () => {
    const { server, peer, file } = await stage();
    const gate = await makeGate(server.workspace);
    // Client A starts the task over JSON-RPC 1.0, and disconnects as soon as the question appears.
    const first = await peer.stream(plan(shell(`echo ran >> effects.txt; ${gate.wait}`)));
    const { taskId, pending: asked } = await first.parked();
    const cursor = first.seen[2]?.seq ?? 0;
    first.connection.reset();

    // Client B continues from A's cursor over HTTP+JSON and the event route, gets the question, and decides.
    const plain = new PlainClient(server);
    const taken: StreamEvent[] = [];
    const reading = plain.events(taskId, cursor);
    let pending: PendingAction[] = [];
    while (pending.length === 0) {
      const { value: event } = await reading.next();
      if (!event) throw new Error('the stream ended before the question');
      taken.push(event);
      ({ pending } = event);
    }
    expect(pending).toEqual(asked);
    // Client C, which uses A2A 0.3, has followed the task.
    const legacy = plain.legacyEvents(taskId);
    await legacy.next();
    const answer = await plain.decide(taskId, decided('page', pending, 'approve'));
    expect(answer.status).toBe(200);
    await gate.pass();
    for await (const event of reading) taken.push(event);
    const seenByC = [];
    for await (const event of legacy) seenByC.push(event);

    expect(taken.at(-1)?.state).toBe('COMPLETED');
    expect(await file('effects.txt')).toBe('ran\n');
    // The events of A and B together must be the whole journal.
    const whole = await peer.history(taskId);
    const read = [...first.seen.slice(1, 3), ...taken].map(({ seq }) => seq);
    expect(read).toEqual(whole.map(({ seq }) => seq).filter((seq) => seq > (first.seen[0]?.seq ?? 0)));

    const told = taken.find(({ activity }) => activity?.type === 'tool.decided');
    const inputHash = createHash('sha256').update(JSON.stringify(asked[0]?.input)).digest('hex');
    expect(told?.activity).toMatchObject({ decision: 'approve', by: 'local', channel: 'page', inputHash });
    const at = timed.parse(JSON.parse(told?.data ?? '')).statusUpdate.status.timestamp;
    const task = await peer.task(taskId);
    expect(task.overview.calls[0]?.decided).toEqual({
      decision: 'approve',
      by: 'local',
      channel: 'page',
      at,
      inputHash,
    });
    expect(task.history.join('\n')).toContain('(approved by the local user on an approval page)');
    // Client C of A2A 0.3 ignores data parts. The text that it reads contains the same facts.
    const words = seenByC.map(({ status }) => status?.message?.parts[0]?.text ?? '');
    expect(words.join('\n')).toContain('approved by the local user on an approval page');
    expect(seenByC.at(-1)).toMatchObject({ final: true, status: { state: 'completed' } });
  });

  it('D1 R08 of two decisions at once the first valid one is accepted, and the other client learns who decided, how and when', async () => {
    const { server, peer, file } = await stage();
    const plain = new PlainClient(server);
    for (let round = 0; round < 6; round += 1) {
      const name = `effects-${round}.txt`;
      const { taskId, pending } = await (await peer.stream(`append "once" to ${name}`)).parked();
      const byCli = (): Promise<unknown> => overRpc(peer, taskId, decided('cli', pending, 'approve'));
      const byPage = (): Promise<unknown> => overRest(plain, taskId, decided('page', pending, 'deny'));
      // In even rounds the command line sends first, in odd rounds the page.
      const sent = round % 2 === 0 ? [byCli(), byPage()] : [byPage(), byCli()].toReversed();
      const [cli, page] = await Promise.all(sent);
      const { overview } = await settled(peer, taskId);
      const standing = overview.calls[0]?.decided;
      if (!standing) throw new Error('nobody has decided');
      const [won, lost] = standing.channel === 'cli' ? [cli, page] : [page, cli];
      expect(won).toBeUndefined();
      expect(lost).toMatchObject({
        reason: 'ALREADY_DECIDED',
        firstDecision: standing.decision,
        decidedBy: 'local',
        channel: standing.channel,
        decidedAt: standing.at,
      });
      expect(await file(name)).toBe(standing.channel === 'cli' ? 'once' : undefined);
    }
  });
});

/** Sends a decision over JSON-RPC. @returns the facts of the refusal; undefined if the server accepted the decision */
async function overRpc(peer: A2aPeer, taskId: string, part: object): Promise<Refusal['facts'] | undefined> {
  const sending = peer.send([part], { taskId });
  const stands = await sending.then(
    () => true,
    () => false,
  );
  return stands ? undefined : (await refusal(sending)).facts;
}

const restRefusal = z.object({
  error: z.object({ details: z.array(z.object({ metadata: z.record(z.string(), z.string()) })) }),
});

/** Sends a decision over HTTP+JSON. @returns the facts of the refusal; undefined if the server accepted the decision */
async function overRest(plain: PlainClient, taskId: string, part: object): Promise<unknown> {
  const { status, body } = await plain.decide(taskId, part);
  return status === 200 ? undefined : restRefusal.parse(body).error.details[0]?.metadata;
}

async function settled(peer: A2aPeer, taskId: string): Promise<TaskView> {
  const stream = await peer.follow(taskId, 0);
  await stream.rest();
  return peer.task(taskId);
}
