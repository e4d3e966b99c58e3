/** What the black box tries: each scenario is one way in which connections, clients and processes come and go. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { Refusal } from '../support/rpc-answer.ts';
import { Disconnected, type Frame } from './a2a-client.ts';
import type { Asked } from './asked.ts';
import { WireView } from './wire-view.ts';

export type Verdict = 'held' | 'lost' | 'not supported';

export interface Row {
  scenario: string;
  why: string;
  verdict: Verdict;
  note: string;
}

type Outcome = Omit<Row, 'scenario' | 'why'>;

const held = (note = ''): Outcome => ({ verdict: 'held', note });
export const lost = (note: string): Outcome => ({ verdict: 'lost', note });
const unsupported = (note: string): Outcome => ({ verdict: 'not supported', note });

const listAnswer = z.object({ tasks: z.array(z.looseObject({ id: z.string() })) });

/** Streams are cut after each of their first events, up to so many. */
const MAX_CUTS = 12;

interface Scenario {
  /** What has to hold. */
  scenario: string;
  /** What becomes of those who rely on it, where it does not. */
  why: string;
  run: (asked: Asked) => Promise<Outcome>;
}

export const SCENARIOS: readonly Scenario[] = [
  {
    scenario: 'the same message twice at once is one task',
    why: 'A client whose connection broke cannot know whether its message arrived, and has to send it again. If the message id does not tell the server that it has it already, the work is done twice, with all its effects.',
    run: async (asked) => {
      const params = asked.message();
      const [one, two] = await Promise.all([asked.send(params), asked.send(params)]);
      return one.taskId === two.taskId ? held() : lost('two tasks do the same work');
    },
  },
  {
    scenario: 'the same message again, later, is the same task',
    why: 'A client that finds out late that it was not answered, or was restarted in between, sends the message again; then the work is done twice.',
    run: async (asked) => {
      const params = asked.message();
      const one = await asked.send(params);
      const two = await asked.send(params);
      return one.taskId === two.taskId ? held() : lost('a second task does the work again');
    },
  },
  {
    scenario: 'another message under the same id is refused',
    why: "Two clients, or one with a fault, use an id twice: whoever is answered as if nothing were wrong believes that the other's work is its own.",
    run: async (asked) => {
      const id = randomUUID();
      await asked.send(asked.message(id));
      const again = asked.send(asked.message(id, `${asked.subject.text}\nsay And more.`));
      return (await refused(again)) ? held() : lost('it was taken for a new one');
    },
  },
  {
    scenario: 'a client that goes stops nothing',
    why: "Laptops sleep and proxies cut idle connections: work that ends with its reader's socket cannot be left alone.",
    run: async (asked) => {
      const { taskId = '' } = viewOf(await readSome(asked.begin(), 1));
      const end = await asked.settled(taskId);
      if (end === undefined) return lost('the task never settled');
      return end.state === 'COMPLETED' ? held() : lost(`the task is ${end.state}`);
    },
  },
  {
    scenario: 'a stream that was cut can be taken up: nothing of the task is missed',
    why: 'Whoever subscribes again has to arrive at the task as it is, without the words that came while nobody read.',
    run: async (asked) => {
      let tried = 0;
      for (let cut = 1; cut <= MAX_CUTS; cut++) {
        const before = await readSome(asked.begin(), cut);
        const { taskId = '', ended } = viewOf(before);
        if (ended) break;
        const after = await readAll(asked.subscribe(taskId)).catch((error: unknown) => {
          // It may have ended meanwhile: then there is nothing to subscribe to. Some say so in the stream itself.
          if (error instanceof Refusal || error instanceof Disconnected) return [];
          throw error;
        });
        const end = await asked.settled(taskId);
        if (after.length === 0) continue;
        tried += 1;
        const seen = viewOf([...before, ...after]).content;
        if (end?.content !== seen)
          return lost(`cut after event ${cut}: the reader has ${seen}, the task is ${end?.content}`);
      }
      return tried === 0 ? unsupported('no task could be subscribed to') : held(`${tried} cuts`);
    },
  },
  {
    scenario: 'two readers see the same, in the same order',
    why: 'A second window, or a supervisor, must not see another course of events than the first.',
    run: async (asked) => {
      const first = asked.begin();
      const opening = await first.next();
      if (opening.done) return lost('the stream was empty');
      const { taskId = '' } = viewOf([opening.value]);
      const [one, two] = await Promise.all([readAll(first), readAll(asked.subscribe(taskId))]);
      const tail = two.slice(1).map(({ text }) => eventOf(text));
      const other = one.map(({ text }) => eventOf(text)).slice(-tail.length);
      if (tail.length === 0) return unsupported('the task had ended before it was subscribed to');
      return JSON.stringify(tail) === JSON.stringify(other) ? held() : lost('they saw different events');
    },
  },
  {
    scenario: 'a cursor (SSE id, Last-Event-ID) replays exactly what follows it',
    why: "With ids on its events a stream goes on after a cut where it was; an event repeated or left out makes the reader's picture wrong.",
    run: async (asked) => {
      const { frames, taskId } = await asked.whole();
      const ids = frames.map(({ id }) => id);
      if (ids.some((id) => id === undefined)) return unsupported('events carry no ids');
      for (const [index, id] of ids.entries()) {
        const rest = (await readAll(asked.subscribe(taskId, id))).map(({ text }) => eventOf(text));
        const expected = frames.slice(index + 1).map(({ text }) => eventOf(text));
        if (JSON.stringify(rest) !== JSON.stringify(expected))
          return lost(`after ${id} came ${rest.length} events, not the ${expected.length} that follow`);
      }
      return held(`${ids.length} cursors`);
    },
  },
  {
    scenario: 'a cursor that cannot be honoured is refused',
    why: 'A reader whose cursor is taken for another one misses events, and never learns of it.',
    run: async (asked) => {
      const { frames, taskId } = await asked.whole();
      if (frames.some(({ id }) => id === undefined)) return unsupported('events carry no ids');
      for (const cursor of ['999999999', '-1', 'x'])
        if (!(await refused(readAll(asked.subscribe(taskId, cursor))))) return lost(`${cursor} was taken`);
      return held();
    },
  },
  {
    scenario: 'an ended task stays as it is: it takes no message and no cancel',
    why: 'A task that has ended is final (A2A 1.0 §3.1.1, §3.1.5); a result that changes after it was read is no result.',
    run: async (asked) => {
      const task = await asked.send(asked.message());
      const taskId = task.taskId ?? '';
      const before = (await asked.settled(taskId))?.content;
      const message = { messageId: randomUUID(), taskId, role: 'ROLE_USER', parts: [{ text: 'more' }] };
      if (!(await refused(asked.client.call('SendMessage', { message })))) return lost('it took a message');
      if (!(await refused(asked.client.call('CancelTask', { id: taskId })))) return lost('it took a cancel');
      return (await asked.task(taskId)).content === before ? held() : lost('it has changed');
    },
  },
  {
    scenario: 'a task that does not exist is refused',
    why: 'A client with a wrong id has to hear of it.',
    run: async (asked) =>
      (await refused(asked.task(randomUUID()))) ? held() : lost('it was answered with a task'),
  },
  {
    scenario: 'every task is listed',
    why: 'After a restart a client finds its tasks again by listing them, or not at all.',
    run: async (asked) => {
      const { taskId = '' } = await asked.send(asked.message());
      try {
        const { tasks } = listAnswer.parse(await asked.client.call('ListTasks', { pageSize: 100 }));
        return tasks.some(({ id }) => id === taskId) ? held() : lost('it is not in the list');
      } catch (error) {
        if (error instanceof Refusal) return unsupported(error.message);
        throw error;
      }
    },
  },
  {
    scenario: 'a killed process has not forgotten what had ended',
    why: 'Results that nobody has collected yet are lost with the process.',
    run: async (asked) => {
      const { restart } = asked.subject;
      if (restart === undefined)
        return unsupported('not tried: --restart says how the server is killed and started again');
      const { taskId = '', content } = await asked.send(asked.message());
      await restart();
      const now = await known(asked, taskId);
      if (now === undefined) return lost('the task is not known any more');
      return now.content === content ? held() : lost('the task has changed');
    },
  },
  {
    scenario: 'a killed process goes on with what was under way',
    why: 'Work that was accepted is neither done nor reported as failed: its client waits for ever.',
    run: async (asked) => {
      const { restart } = asked.subject;
      if (restart === undefined)
        return unsupported('not tried: --restart says how the server is killed and started again');
      const stream = asked.begin();
      const opening = await stream.next();
      if (opening.done) return lost('the stream was empty');
      const { taskId = '' } = viewOf([opening.value]);
      await restart();
      if ((await known(asked, taskId)) === undefined) return lost('the task is not known any more');
      const end = await asked.settled(taskId);
      return end?.state === 'COMPLETED' ? held() : lost(`the task is ${end?.state ?? 'unsettled'}`);
    },
  },
  {
    scenario: 'the same message again, after a kill, is the same task',
    why: 'A client that gets no answer because the server was killed sends again; then the work is done twice.',
    run: async (asked) => {
      const { restart } = asked.subject;
      if (restart === undefined)
        return unsupported('not tried: --restart says how the server is killed and started again');
      const params = asked.message();
      const { taskId } = await asked.send(params);
      await restart();
      const again = await asked.send(params);
      return again.taskId === taskId ? held() : lost('a second task does the work again');
    },
  },
];

/** @returns undefined when the server has no such task */
async function known(asked: Asked, taskId: string): Promise<WireView | undefined> {
  try {
    return await asked.task(taskId);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

async function refused(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return false;
  } catch (error) {
    if (error instanceof Refusal) return true;
    throw error;
  }
}

/** Reads so many frames, and goes. */
async function readSome(stream: AsyncGenerator<Frame, void, undefined>, count: number): Promise<Frame[]> {
  const frames: Frame[] = [];
  for await (const frame of stream) {
    frames.push(frame);
    if (frames.length === count) break;
  }
  return frames;
}

async function readAll(stream: AsyncGenerator<Frame, void, undefined>): Promise<Frame[]> {
  return readSome(stream, Infinity);
}

const viewOf = (frames: readonly Frame[]): WireView =>
  frames.reduce((view, { data }) => view.take(data), new WireView());

/** The event in a JSON-RPC answer, whose request ids differ between readers. */
function eventOf(text: string): unknown {
  return z.object({ result: z.unknown() }).parse(JSON.parse(text)).result;
}
