/**
 * Cuts the connection at each byte of a recorded stream, of a command with its answer, and of a delegation by the
 * bridge.
 */
import { z } from 'zod';
import { writtenMessage } from '../support/a2a-message.ts';
import { readTask } from '../support/wire-event.ts';
import { A2aFlow } from './a2a-flow.ts';
import { Disconnected, type A2aClient } from './a2a-client.ts';
import { must } from './findings.ts';
import { lastTasks, says } from './flow-checks.ts';
import { mustContinue } from './journal-checks.ts';
import type { Scene } from './scene.ts';
import { TaskReader, wholeJournal } from './task-reader.ts';
import type { Cut, CutKind, Direction, TcpProxy } from './tcp-proxy.ts';
import { Verdicts } from './verdicts.ts';
import { smallWorkload } from './workload.ts';

/**
 * Each round cuts at every 16th byte, with a different offset. So 16 rounds cut the client's traffic at every byte.
 */
const STRIDE = 16;
/** Each round cuts at every 64th byte, with a different offset. So 64 rounds cut a delegation at every byte. */
const BRIDGE_STRIDE = 64;
/** The number of parallel delegations. */
const TOGETHER = 8;
const MAX_TRIES = 5;
/** The number of messages that one list checks. A list has 100 tasks, so it shows a second task of each message. */
const LISTED_TOGETHER = 50;
export const KINDS: readonly [CutKind, ...CutKind[]] = ['reset', 'end', 'half-close'];

export async function everyByte(round: number, scene: Scene): Promise<void> {
  await everyByteOfStream(round, scene);
  await everyByteOfCommand(round, scene);
  await everyByteOfDelegation(round, scene);
  scene.proxy.treat = () => ({});
}

/** S1: the events before and after the cut must equal the journal. */
async function everyByteOfStream(round: number, scene: Scene): Promise<void> {
  const { place, proxy, through, random, findings } = scene;
  const client = await place.client();
  const workload = smallWorkload(`p${round}s`);
  const { workspace } = place.home;
  const flow = new A2aFlow({ workload, workspace, random, verdicts: new Verdicts(random) });
  while (!flow.done) await flow.step(client);
  const taskId = flow.taskId ?? '';
  const whole = await wholeJournal(client, taskId);
  const lengths = await bytesOf(proxy, () => wholeJournal(through, taskId));
  findings.count('proxy: bytes of the recorded stream', lengths.down);
  for (const cut of cutsOf({ down: lengths.down }, round, STRIDE)) {
    const reader = new TaskReader(taskId);
    const where = `cut at byte ${cut.after} (${cut.how})`;
    cutNext(scene, [cut], 'a byte of the recorded stream');
    for (let tries = 0; reader.position < (whole.at(-1)?.seq ?? 0); tries++) {
      must(
        tries < MAX_TRIES,
        `${where}, the reader did not reach the end of the stream in ${tries} attempts`,
      );
      await reader.read(through).catch(unlessDisconnected);
    }
    must(
      reader.seen.length === whole.length,
      `${where}: ${reader.seen.length} of ${whole.length} events came (gap)`,
    );
    mustContinue(reader.seen, whole);
  }
}

const answered = z.object({ task: z.unknown().transform(readTask) });

/** R27: after a cut, the client sends the message again with the same id. There must be one task. */
async function everyByteOfCommand(round: number, scene: Scene): Promise<void> {
  const { place, proxy, through, findings } = scene;
  const client = await place.client();
  const send = async (name: string, to: A2aClient = through): Promise<string> => {
    const message = writtenMessage(`say ${name} is all.`, { messageId: name });
    return answered.parse(await to.call('SendMessage', { message })).task.taskId;
  };
  const lengths = await bytesOf(proxy, () => send(nameOf('m', round, { direction: 'up', after: 9999 })));
  findings.count('proxy: bytes of the recorded command and its answer', lengths.up + lengths.down);
  const cuts = cutsOf(lengths, round, STRIDE);
  for (let begin = 0; begin < cuts.length; begin += LISTED_TOGETHER) {
    const sent: Sent[] = [];
    for (const cut of cuts.slice(begin, begin + LISTED_TOGETHER)) {
      const name = nameOf('m', round, cut);
      cutNext(scene, [cut], 'a byte of the recorded command or its answer');
      await send(name).catch(unlessDisconnected);
      const what = `a message cut at byte ${cut.after} ${cut.direction} (${cut.how})`;
      sent.push({ name, what, taskId: await send(name, client) });
    }
    await mustBeOneEach(client, sent);
  }
}

const report = z.looseObject({ taskId: z.string(), state: z.string(), output: z.string() });

/** B1, R64: the caller of the bridge does not notice the cut. */
async function everyByteOfDelegation(round: number, scene: Scene): Promise<void> {
  const { place, proxy, findings } = scene;
  const client = await place.client();
  const delegate = async (name: string): Promise<string> => {
    const said = await place.bridge.callTool('delegate_task_to_assistant', { task: `say ${name} is all.` });
    const words = said.content.map(({ text }) => text).join('\n');
    must(said.isError !== true, `the caller got an error because of a cut connection: ${words}`);
    const { taskId, state, output } = report.parse(said.structuredContent);
    must(state === 'completed' && output.includes(name), `${name} came back as ${state}: ${words}`);
    return taskId;
  };
  // The first delegation reads the agent card. So the card is not in the measured traffic of the second.
  await delegate(nameOf('d', round, { direction: 'up', after: 8888 }));
  proxy.hangUp();
  const lengths = await bytesOf(proxy, () => delegate(nameOf('d', round, { direction: 'up', after: 9999 })));
  findings.count('proxy: bytes of the recorded delegation', lengths.up + lengths.down);
  const cuts = cutsOf(lengths, round, BRIDGE_STRIDE);
  for (let begin = 0; begin < cuts.length; begin += TOGETHER) {
    const batch = cuts.slice(begin, begin + TOGETHER);
    proxy.hangUp();
    cutNext(scene, batch, 'a byte of a delegation');
    const sent = await Promise.all(
      batch.map(async (cut): Promise<Sent> => {
        const name = nameOf('d', round, cut);
        return { name, what: 'a delegation, cut beside others', taskId: await delegate(name) };
      }),
    );
    await mustBeOneEach(client, sent);
  }
}

const nameOf = (kind: string, round: number, { direction, after }: Omit<Cut, 'how'>): string =>
  `p${round}${kind}-${direction}-${after}-`;

/** A message that the server has accepted. */
interface Sent {
  name: string;
  what: string;
  taskId: string;
}

async function mustBeOneEach(client: A2aClient, sent: readonly Sent[]): Promise<void> {
  const all = await lastTasks(client);
  for (const { name, what, taskId } of sent) {
    const tasks = all.filter((task) => says(task, name));
    must(tasks.length === 1, `${what} has become ${tasks.length} tasks`);
    must(tasks[0]?.taskId === taskId, `${what} was answered with a task other than the task in the list`);
  }
}

/** @returns cuts at each n-th byte, with another offset in each round: a reset, an end and a half-close in turn */
function cutsOf(lengths: Partial<Record<Direction, number>>, round: number, stride: number): Cut[] {
  const directions: readonly Direction[] = ['up', 'down'];
  return directions.flatMap((direction) => {
    const length = lengths[direction];
    if (length === undefined) return [];
    const first = round % stride;
    return Array.from({ length: Math.floor((length - first) / stride) + 1 }, (_, index) => ({
      direction,
      after: first + index * stride,
      how: KINDS[index % KINDS.length] ?? 'reset',
    }));
  });
}

/** Applies one cut to each of the next connections. After the last cut, connections stay whole. */
function cutNext({ proxy, findings }: Scene, cuts: readonly Cut[], what: string): void {
  const waiting = [...cuts];
  proxy.treat = () => {
    const cut = waiting.shift();
    return cut === undefined ? {} : { cut };
  };
  proxy.onCut = () => {
    findings.count('proxy: cuts');
    findings.count(`proxy: cuts at ${what}`);
  };
}

async function bytesOf(proxy: TcpProxy, work: () => Promise<unknown>): Promise<Record<Direction, number>> {
  const bytes = { up: 0, down: 0 };
  proxy.treat = () => ({});
  proxy.onBytes = (direction, count) => (bytes[direction] += count);
  await work();
  proxy.onBytes = () => undefined;
  return bytes;
}

export function unlessDisconnected(error: unknown): void {
  if (!(error instanceof Disconnected)) throw error;
}
