/** The checks of the probe. Most of them repeat a message, cut a stream, or kill the agent's process. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type StreamedEvent, NoAnswerError, JsonRpcError } from './json-rpc-client.ts';
import { type AgentUnderTest, readUntilRest, taskContentOf } from './agent-under-test.ts';
import type { ProbedTaskContent } from './task-content.ts';

/** The result of a check. `not supported`: the agent does not have the feature, or the check could not run. */
type ProbeVerdict = 'passed' | 'failed' | 'not supported';

export interface ProbeCheckRow extends Omit<Check, 'run'> {
  verdict: ProbeVerdict;
  note: string;
}

type Outcome = Pick<ProbeCheckRow, 'verdict' | 'note'>;

const passed = (note = ''): Outcome => ({ verdict: 'passed', note });
/** Returns the outcome of a check that the agent does not pass. */
export const failedOutcome = (note: string): Outcome => ({ verdict: 'failed', note });
const unsupported = (note: string): Outcome => ({ verdict: 'not supported', note });

const listAnswer = z.object({ tasks: z.array(z.looseObject({ id: z.string() })) });

/**
 * The maximum number of events before a cut. One check cuts the stream after its first event, after its second event,
 * and so on.
 */
const MAX_CUTS = 12;

/** The maximum number of tasks for the check with two readers. A task may end before the second reader subscribes. */
const MAX_TWO_READER_TASKS = 3;

/** The source of a rule that A2A does not contain. */
const NOT_IN_A2A = 'not in A2A; clients need it';

interface Check {
  /** The behaviour that the check expects of the agent. */
  scenario: string;
  /** A description of the requests that the check sends. */
  sent: string;
  /**
   * The section of the A2A 1.0 specification that the check tests, and its key word (e.g. MUST or MAY); or
   * `NOT_IN_A2A`.
   */
  source: string;
  /** The harm for clients if the agent behaves otherwise. */
  why: string;
  run: (server: AgentUnderTest) => Promise<Outcome>;
}

/** All checks, in the order in which they run. */
export const PROBE_CHECKS: readonly Check[] = [
  {
    scenario: 'the same message, sent twice at once, is one task',
    sent: 'SendMessage twice at the same time, with one message id',
    source: 'A2A 1.0 §3.3.1 (MAY)',
    why: 'A client whose connection broke cannot know whether its message arrived. So it sends the message again. If the server does not recognize the message id, it does the work twice, with all effects.',
    run: async (server) => {
      const params = server.message();
      const [one, two] = await Promise.all([server.send(params), server.send(params)]);
      return one.taskId === two.taskId ? passed() : failedOutcome('two tasks do the same work');
    },
  },
  {
    scenario: 'the same message, sent again later, is the same task',
    sent: 'SendMessage twice, one after the other, with one message id',
    source: 'A2A 1.0 §3.3.1 (MAY)',
    why: 'A client that got no answer, or restarted in between, sends the message again. Then the server does the work twice.',
    run: async (server) => {
      const params = server.message();
      const one = await server.send(params);
      const two = await server.send(params);
      return one.taskId === two.taskId ? passed() : failedOutcome('a second task does the work again');
    },
  },
  {
    scenario: 'another message with the same id is refused',
    sent: 'SendMessage twice, with one message id and two texts',
    source: 'A2A 1.0 §3.3.1 (MAY)',
    why: "Two clients may use one id by mistake. Without an error, one client takes the other client's task for its own.",
    run: async (server) => {
      const id = randomUUID();
      await server.send(server.message(id));
      const again = server.send(server.message(id, `${server.text}\nsay And more.`));
      return (await isRefused(again)) ? passed() : failedOutcome('the server accepted it as a new message');
    },
  },
  {
    scenario: 'a client that disconnects stops no task',
    sent: 'SendStreamingMessage; the connection closes after the first event; then GetTask',
    source: NOT_IN_A2A,
    why: 'Laptops sleep, and proxies cut idle connections. If a task ends with the socket of its reader, no client can leave it alone.',
    run: async (server) => {
      const { taskId = '' } = taskContentOf(await readSome(server.startTask(), 1));
      return judgeInterruptedTask(server, taskId);
    },
  },
  {
    scenario: 'after a cut, a new subscription gets everything that the reader has missed',
    sent: 'SendStreamingMessage, cut after each event in turn; then SubscribeToTask and GetTask',
    source: 'A2A 1.0 §3.1.6 (MUST)',
    why: 'A client that subscribes again needs the current task, with the text from the time between the two streams.',
    run: async (server) => {
      let tried = 0;
      let hasOutput = false;
      for (let cut = 1; cut <= MAX_CUTS; cut++) {
        const before = await readSome(server.startTask(), cut);
        const { taskId = '', settled } = taskContentOf(before);
        if (settled) break;
        const after = await readNewSubscription(server, taskId);
        const end = await server.waitUntil(taskId, 'settled');
        if (after.length === 0) continue;
        tried += 1;
        const seen = taskContentOf([...before, ...after]);
        hasOutput ||= seen.hasOutput;
        if (end?.content !== seen.content)
          return failedOutcome(
            `cut after event ${cut}: the reader has ${seen.content}, the task is ${end?.content}`,
          );
      }
      if (tried === 0) return unsupported('no task accepted a subscription');
      return passed(
        hasOutput ? `${tried} cuts` : `${tried} cuts; only states, because the task has no artifact`,
      );
    },
  },
  {
    scenario: 'two readers see the same events in the same order',
    sent: 'SendStreamingMessage, and SubscribeToTask for the same task meanwhile',
    source: 'A2A 1.0 §3.5.2 (MUST)',
    why: 'Two windows on the same task must not show different events.',
    run: async (server) => {
      for (let attempt = 1; attempt <= MAX_TWO_READER_TASKS; attempt++) {
        const first = server.startTask();
        const opening = await first.next();
        if (opening.done) return failedOutcome('the stream was empty');
        const { taskId = '' } = taskContentOf([opening.value]);
        const [one, two] = await Promise.all([readUntilRest(first), readNewSubscription(server, taskId)]);
        const tail = two.slice(1).map(({ text }) => eventOf(text));
        if (tail.length === 0) continue;
        const other = one.map(({ text }) => eventOf(text)).slice(-tail.length);
        return JSON.stringify(tail) === JSON.stringify(other)
          ? passed()
          : failedOutcome('the readers saw different events');
      }
      return unsupported('each task had ended before the subscription');
    },
  },
  {
    scenario: 'a cursor (SSE id, Last-Event-ID) replays exactly the events after it',
    sent: 'SendStreamingMessage; then SubscribeToTask with each SSE id as Last-Event-ID',
    source: NOT_IN_A2A,
    why: 'With event ids, a stream continues after a cut at its last event. A missing or repeated event gives the reader a wrong view of the task.',
    run: async (server) => {
      const { frames, taskId } = await server.runTask();
      const ids = frames.map(({ id }) => id);
      if (ids.some((id) => id === undefined)) return unsupported('events carry no ids');
      // After the last event of a task that waits, the stream may stay open and send nothing more. So the last cursor
      // is not tested.
      const cursors = server.restState === 'COMPLETED' ? ids : ids.slice(0, -1);
      for (const [index, id] of cursors.entries()) {
        const received = (await readUntilRest(server.subscribe(taskId, id))).map(({ text }) => eventOf(text));
        const expected = frames.slice(index + 1).map(({ text }) => eventOf(text));
        if (JSON.stringify(received) !== JSON.stringify(expected))
          return failedOutcome(
            `after ${id} came ${received.length} events, not the ${expected.length} that follow`,
          );
      }
      return passed(`${cursors.length} cursors`);
    },
  },
  {
    scenario: 'a cursor that cannot be honoured is refused',
    sent: 'SubscribeToTask with the Last-Event-ID 999999999, -1 and x',
    source: NOT_IN_A2A,
    why: 'If the server uses another cursor instead, the reader misses events without notice.',
    run: async (server) => {
      const { frames, taskId } = await server.runTask();
      if (frames.some(({ id }) => id === undefined)) return unsupported('events carry no ids');
      for (const cursor of ['999999999', '-1', 'x'])
        if (!(await isRefused(readUntilRest(server.subscribe(taskId, cursor)))))
          return failedOutcome(`the cursor ${cursor} was accepted`);
      return passed();
    },
  },
  {
    scenario: 'an ended task does not change: it accepts no message and no cancel',
    sent: 'SendMessage and CancelTask for a task that has ended',
    source: 'A2A 1.0 §3.1.1, §3.1.5 (MUST)',
    why: 'A task that has ended is final (A2A 1.0 §3.1.1, §3.1.5). A client must be able to rely on the result that it has read.',
    run: async (server) => {
      const task = await server.send(server.message());
      const taskId = task.taskId ?? '';
      if (!task.ended) {
        if (await isRefused(server.client.call('CancelTask', { id: taskId })))
          return unsupported('its tasks wait, and it does not cancel them, so none ends');
        if ((await server.waitUntil(taskId, 'ended')) === undefined)
          return failedOutcome('it accepted a cancel and does not end');
      }
      const before = (await server.waitUntil(taskId, 'settled'))?.content;
      const { message } = server.message(randomUUID(), 'more');
      if (!(await isRefused(server.send({ message: { ...message, taskId } }))))
        return failedOutcome('it accepted a message');
      // A2A 1.0 §3.3.1: an agent may accept a second cancel. So a cancelled task is not cancelled again here.
      if (task.ended && !(await isRefused(server.client.call('CancelTask', { id: taskId }))))
        return failedOutcome('it accepted a cancel');
      if ((await server.task(taskId)).content !== before) return failedOutcome('it has changed');
      return passed(task.ended ? '' : 'a task that was cancelled');
    },
  },
  {
    scenario: 'an unknown task id is an error',
    sent: 'GetTask with an id of no task',
    source: 'A2A 1.0 §3.4.2 (MUST)',
    why: 'A client with a wrong id must get an error.',
    run: async (server) =>
      (await isRefused(server.task(randomUUID())))
        ? passed()
        : failedOutcome('the server answered with a task'),
  },
  {
    scenario: 'the list contains every task',
    sent: 'SendMessage; then ListTasks',
    source: 'A2A 1.0 §3.1.4 (MUST)',
    why: 'After a restart, a client can find its tasks only in the list.',
    run: async (server) => {
      const { taskId = '' } = await server.send(server.message());
      try {
        const { tasks } = listAnswer.parse(await server.client.call('ListTasks', { pageSize: 100 }));
        return tasks.some(({ id }) => id === taskId) ? passed() : failedOutcome('it is not in the list');
      } catch (error) {
        if (error instanceof JsonRpcError) return unsupported(error.message);
        throw error;
      }
    },
  },
  {
    scenario: 'after a kill and a restart, the server still has its ended tasks',
    sent: 'SendMessage; a kill and a restart; then GetTask',
    source: NOT_IN_A2A,
    why: 'Otherwise, results that no client has read are lost with the process.',
    run: withRestart(async (server, restart) => {
      const { taskId = '', content } = await server.send(server.message());
      await restart();
      const now = await readTaskIfKnown(server, taskId);
      if (now === undefined) return failedOutcome('the server does not know the task any more');
      if (now.content !== content) return failedOutcome('the task has changed');
      return passed(server.restState === 'COMPLETED' ? '' : 'a task that waits');
    }),
  },
  {
    scenario: 'after a kill and a restart, the server continues its running tasks',
    sent: 'SendStreamingMessage; a kill and a restart after the first event; then GetTask',
    source: NOT_IN_A2A,
    why: 'Otherwise, accepted work neither completes nor fails, and its client waits for ever.',
    run: withRestart(async (server, restart) => {
      const stream = server.startTask();
      const opening = await stream.next();
      if (opening.done) return failedOutcome('the stream was empty');
      const { taskId = '' } = taskContentOf([opening.value]);
      await restart();
      if ((await readTaskIfKnown(server, taskId)) === undefined)
        return failedOutcome('the server does not know the task any more');
      return judgeInterruptedTask(server, taskId);
    }),
  },
  {
    scenario: 'the same message, sent again after a kill, is the same task',
    sent: 'SendMessage; a kill and a restart; then the same SendMessage',
    source: 'A2A 1.0 §3.3.1 (MAY)',
    why: 'A client that got no answer because of the kill sends the message again. Then the server does the work twice.',
    run: withRestart(async (server, restart) => {
      const params = server.message();
      const { taskId } = await server.send(params);
      await restart();
      const again = await server.send(params);
      return again.taskId === taskId ? passed() : failedOutcome('a second task does the work again');
    }),
  },
];

/** Returns a check that kills and restarts the agent. */
function withRestart(
  check: (server: AgentUnderTest, restart: () => Promise<void>) => Promise<Outcome>,
): Check['run'] {
  return async (server) =>
    server.restart === undefined
      ? unsupported('not tested: --restart must give the command that kills and restarts the server')
      : check(server, server.restart);
}

/** Reads the task from the agent. Returns undefined if the agent does not have the task. */
async function readTaskIfKnown(
  server: AgentUnderTest,
  taskId: string,
): Promise<ProbedTaskContent | undefined> {
  try {
    return await server.task(taskId);
  } catch (error) {
    if (error instanceof JsonRpcError) return undefined;
    throw error;
  }
}

/** Waits until the task has ended or waits. Judges whether its work continued after the interruption. */
async function judgeInterruptedTask(server: AgentUnderTest, taskId: string): Promise<Outcome> {
  const end = await server.waitUntil(taskId, 'settled');
  if (end === undefined) return failedOutcome('the task never settled');
  if (end.state !== server.restState) return failedOutcome(`the task is ${end.state}`);
  return server.restState === 'COMPLETED'
    ? passed()
    : unsupported('not judged: the task is INPUT_REQUIRED, but so may be a task whose work was stopped');
}

async function isRefused(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return false;
  } catch (error) {
    if (error instanceof JsonRpcError) return true;
    throw error;
  }
}

/** Reads the first `count` events of a stream and disconnects. Returns the events. */
async function readSome(
  stream: AsyncGenerator<StreamedEvent, void, undefined>,
  count: number,
): Promise<StreamedEvent[]> {
  const frames: StreamedEvent[] = [];
  for await (const frame of stream) {
    frames.push(frame);
    if (frames.length === count) break;
  }
  return frames;
}

/**
 * Subscribes to a task and reads its events. Returns none if the agent refuses the subscription, with an error response
 * or with an error in the stream. It does so if the task has ended.
 */
async function readNewSubscription(server: AgentUnderTest, taskId: string): Promise<StreamedEvent[]> {
  try {
    return await readUntilRest(server.subscribe(taskId));
  } catch (error) {
    if (error instanceof JsonRpcError || error instanceof NoAnswerError) return [];
    throw error;
  }
}

/** Returns the event in a JSON-RPC response, without the request id. That id differs between two readers. */
function eventOf(text: string): unknown {
  return z.object({ result: z.unknown() }).parse(JSON.parse(text)).result;
}
