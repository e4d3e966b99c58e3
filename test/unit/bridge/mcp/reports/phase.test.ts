import { describe, expect, test } from '@jest/globals';
import { phaseText } from '../../../../../bridge/mcp/reports/phase.ts';
import { toolCallEventText } from '../../../../../bridge/sessions/session/tool-call-event-text.ts';
import { pendingWrite } from '../../../../support/fake-agent-task.ts';
import { callView, taskView } from '../../../../support/task-view.ts';

const call = callView({ tool: 'run-shell-command', title: 'Run `npm test`', state: 'running', toolId: 't' });
const waiting = (...ids: string[]) =>
  taskView({ state: 'input-required', pending: ids.map((id) => pendingWrite(id)) });

describe('the phase of a task in progress messages', () => {
  test.each([
    ['waits for 1 decision', waiting('one')],
    ['waits for 2 decisions', waiting('one', 'two')],
    ['running: Run `npm test`', taskView({ state: 'working', calls: [call] })],
  ])('the phase of a task is "%s"', (text, view) => expect(phaseText(view)).toBe(text));

  test('no text says "runs Run" or "decision(s)"', () => {
    const { callId, tool, title } = call;
    const started = { type: 'tool.started', callId, tool, title, toolId: 't' } as const;
    const texts = [
      phaseText(waiting('one')),
      phaseText(taskView({ state: 'working', calls: [call] })),
      toolCallEventText(started) ?? '',
    ];
    expect(texts.filter((text) => /runs Run|\(s\)|^$/.test(text))).toEqual([]);
  });
});
