/** A model answers nonsense over the real wire, and a person corrects it. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { FakeModelEndpoint, Reply } from '../../support/fake-model-endpoint.ts';
import { messageOf, startTaskService, sendUntilSettled } from '../../support/task-service.ts';
import { FAKE_MODEL, modelEndpoint, modelsAt } from '../../support/model-stage.ts';

const WINDOW = 8_000;
const NOTHING: Reply = { type: 'turn', turn: {} };
const DONE: Reply = { type: 'turn', turn: { text: ['Done.'] } };

let endpoint: FakeModelEndpoint;
beforeEach(async () => {
  endpoint = await modelEndpoint();
});

async function start() {
  const models = modelsAt(endpoint, { contextWindow: { [FAKE_MODEL]: WINDOW } });
  return (await startTaskService({ models })).tasks;
}

function bodies(): string[] {
  return endpoint.received.map(({ body }) => JSON.stringify(body));
}

function calls(name: string, input: string): Reply {
  return { type: 'turn', turn: { calls: [{ id: 'c', name, arguments: input }] } };
}

describe('a model that sends invalid answers', () => {
  it('a model gets an error message for an empty answer, and continues', async () => {
    const tasks = await start();
    endpoint.script(NOTHING, DONE);
    const { status, exchanges } = await sendUntilSettled(tasks, messageOf('do it'));
    expect(status).toEqual({ state: 'completed' });
    expect(bodies()[1]).toContain('Your last answer was empty');
    expect(exchanges.at(-1)).toMatchObject({ turn: { text: 'Done.' } });
  });

  it.each([
    ['a tool that does not exist', calls('fly', '{}'), 'There is no tool fly.'],
    ['arguments that are no JSON', calls('read-file', '{"path": '), 'read-file'],
    ['arguments that do not fit', calls('read-file', '{"path": 7}'), 'path'],
  ])(
    'a model gets an error message for %s a limited number of times; then the person is asked, and can correct it',
    async (_, reply, told) => {
      const tasks = await start();
      endpoint.otherwise(() => reply);
      const { status, taskId } = await sendUntilSettled(tasks, messageOf('do it'));
      expect(status).toMatchObject({
        state: 'input-required',
        pending: [],
        question: expect.stringContaining('has made only calls that cannot run, 5 turns in a row'),
      });
      expect(bodies()).toHaveLength(5);
      expect(bodies()[1]).toContain(told);
      expect(bodies()[4]).toContain('None of your last calls could run');
      endpoint.otherwise(() => DONE);
      const again = messageOf('Just say so.', { taskId });
      expect((await sendUntilSettled(tasks, again)).status).toEqual({ state: 'completed' });
    },
  );

  it.each(['{"path": "a.md", "content": "and so', ''])(
    'a call whose input was cut off (%j) does not run, and the model learns that its answer was cut off',
    async (input) => {
      const tasks = await start();
      const cut: Reply = {
        type: 'turn',
        turn: { calls: [{ id: 'c', name: 'list-files', arguments: input }], finish: 'length' },
      };
      endpoint.script(cut, DONE);
      const { status, calls: made } = await sendUntilSettled(tasks, messageOf('do it'));
      expect(status).toEqual({ state: 'completed' });
      expect(made).toEqual({});
      expect(bodies()[1]).toContain('Your last answer was cut off at its maximum length.');
    },
  );

  it('if a model never ends its answer, the server stops the answer and asks the person', async () => {
    const tasks = await start();
    const words = Array.from({ length: 400 }, () => 'and so on and on '.repeat(10));
    endpoint.otherwise(() => ({
      type: 'turn',
      turn: { text: words },
      cut: { frames: 401, ending: 'silence' },
    }));
    const { status, exchanges } = await sendUntilSettled(tasks, messageOf('do it'));
    expect(status).toMatchObject({
      state: 'input-required',
      question: expect.stringContaining('cut off at its maximum length, 3 turns in a row'),
    });
    for (const exchange of exchanges)
      if (exchange.type === 'turn') expect(exchange.turn.text.length).toBeLessThan(WINDOW * 4 + 200);
    // The model's text so far is clipped in its prompt, so it does not fill the context window.
    for (const body of bodies()) expect(body.length).toBeLessThan(WINDOW * 3);
    for (const { closedEarly } of endpoint.received) expect(await closedEarly).toBe(true);
  });
});
