import { describe, expect, it } from '@jest/globals';
import { resultForModel } from '../../../../a2a-server/task/result-for-model.ts';
import { createCall } from '../../../../a2a-server/task/call-state.ts';
import type { ToolOutcome } from '../../../../a2a-server/task/events.ts';
import { request } from '../../../support/task-machine.ts';

function afterRun(outcome: ToolOutcome) {
  const call = createCall(request('a', false), 1, {
    type: 'settled',
    result: { type: 'ran', toolId: 'x', outcome },
  });
  return resultForModel(call);
}

const stopped = { type: 'stopped', reason: 'timeout', message: 'It was stopped.' } as const;
const DOUBT = ' It did not confirm that it stopped and may have had an effect.';

describe('the result of a call for the model', () => {
  it.each<[ToolOutcome, string, boolean]>([
    [{ type: 'ok', text: 'done', summary: '' }, 'done', false],
    [{ type: 'error', message: 'disk full' }, 'disk full', true],
    [{ ...stopped, confirmed: true, text: '' }, 'It was stopped.', true],
    [{ ...stopped, confirmed: false, text: '' }, `It was stopped.${DOUBT}`, true],
    [{ ...stopped, confirmed: true, text: 'half' }, 'It was stopped.\n\nOutput before the stop:\nhalf', true],
  ])('the model gets the text for the outcome %j', (outcome, text, isError) => {
    expect(afterRun(outcome)).toEqual({ text, isError });
  });

  it('a call that the end of the task left unfinished has an error as its result', () => {
    const call = createCall(request('a', false), 1, { type: 'ready' });
    expect(resultForModel(call)).toEqual({
      text: 'This call was not run: the task ended first.',
      isError: true,
    });
  });

  it('a call that the policy refused has an error with the policy’s reason as its result', () => {
    const refused = { type: 'refused', message: 'Plan mode allows no change.' } as const;
    const call = createCall(request('a', false), 1, { type: 'settled', result: refused });
    expect(resultForModel(call)).toEqual({ text: 'Plan mode allows no change.', isError: true });
  });
});
