import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import {
  runModelTurn,
  type ModelTurnOptions,
} from '../../../../../a2a-server/executor/model-turn/model-turn.ts';
import { AbortScope } from '../../../../../shared/runtime/abort.ts';
import { TaskJournal } from '../../../../../a2a-server/executor/task-journal/task-journal.ts';
import type { Journal } from '../../../../../a2a-server/journal/journal.ts';
import { openSqliteJournal } from '../../../../../a2a-server/journal/sqlite/sqlite-journal.ts';
import type { ModelEvent } from '../../../../../a2a-server/models/model.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { beginning } from '../../../../support/journal-samples.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';
import { request } from '../../../../support/task-machine.ts';

const TASK = 'task-1';
const FINISH: ModelEvent = { type: 'finish', end: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
const CALL: ModelEvent = { type: 'call', modelCallId: 'c1', tool: 'write-file', input: {} };

let journal: Journal;
/** The types of the events of each append. */
let appends: string[][];

beforeEach(async () => {
  const path = join(await temporaryDirectory(), 'journal.db');
  journal = await openSqliteJournal({ path, clock: () => 1 });
  await journal.append(beginning(TASK));
  const append = journal.append.bind(journal);
  appends = [];
  journal.append = (wanted) => {
    appends.push(wanted.events.map(({ type }) => type));
    return append(wanted);
  };
});

afterEach(() => journal.close());

function turn(stream: () => AsyncIterable<ModelEvent>, prepare?: ModelTurnOptions['prepare']): Promise<void> {
  return runModelTurn(TASK, {
    taskJournal: new TaskJournal(journal),
    clock: new FakeClock(),
    modelFor: () => ({ id: 'scripted', stream }),
    instructions: '',
    tools: [],
    bytes: 1_000_000,
    basis: 'basis',
    earlier: [],
    readFile: () => Promise.resolve(undefined),
    workspace: '/workspace',
    scope: new AbortScope(),
    prepare: prepare ?? (() => Promise.reject(new Error('no call was expected'))),
  });
}

/** Resolves when the task has this many events. */
async function journalled(count: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const look = async (): Promise<void> => {
      const entries = await journal.read(TASK, 0, 100);
      if (entries.length < count) return;
      stop();
      resolve();
    };
    const stop = journal.watch(TASK, () => void look());
    void look();
  });
}

describe('a turn of the model', () => {
  it('a turn that arrives at once needs two appends: one for its start, one for its text and its end', async () => {
    await turn(async function* () {
      yield { type: 'text', text: 'Hello, ' };
      yield { type: 'text', text: 'world' };
      yield FINISH;
    });
    expect(appends).toEqual([
      ['task.working', 'turn.started'],
      ['text.delta', 'text.delta', 'turn.finished', 'task.completed'],
    ]);
  });

  it('a turn writes its text to the journal while the model is still working', async () => {
    await turn(async function* () {
      yield { type: 'text', text: 'Hello, ' };
      await journalled(5);
      yield { type: 'text', text: 'world' };
      yield FINISH;
    });
    expect(appends).toEqual([
      ['task.working', 'turn.started'],
      ['text.delta'],
      ['text.delta', 'turn.finished', 'task.completed'],
    ]);
  });

  it('a turn writes its text to the journal before the policy decides about its calls; one append ends the turn and asks the person', async () => {
    await turn(
      async function* () {
        yield { type: 'text', text: 'I will write.' };
        yield CALL;
        yield FINISH;
      },
      async () => {
        await journalled(5);
        return { call: request('c1', false), judge: () => ({ type: 'ask' }) };
      },
    );
    expect(appends).toEqual([
      ['task.working', 'turn.started'],
      ['text.delta'],
      ['tool.requested', 'turn.finished', 'input.required'],
    ]);
  });

  it('a turn keeps the order of its text, even if much text arrives at once', async () => {
    const words = Array.from({ length: 5_000 }, (_, index) => `${index} `);
    await turn(async function* () {
      for (const text of words) yield { type: 'text', text };
      yield FINISH;
    });
    const snapshot = await new TaskJournal(journal).load(TASK);
    expect(snapshot?.exchanges.at(-1)).toMatchObject({ turn: { text: words.join('') } });
    expect(snapshot?.status.state).toBe('completed');
    expect(appends.length).toBeGreaterThan(2);
  });
});
