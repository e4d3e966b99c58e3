import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  MAX_TASK_OUTPUT_CHARS,
  withToolOutput,
  type ToolExecutionOutput,
} from '../../../../a2a-server/task/tool-outputs.ts';
import { numberOfRuns } from '../../../support/property-runs.ts';

const ref = { callId: 'c', tool: 'run-shell-command', title: 'Run' };
const put = (outputs: readonly ToolExecutionOutput[], toolId: string, text: string) =>
  withToolOutput(outputs, { type: 'tool.output', ...ref, toolId, text });
const textsOf = (outputs: readonly ToolExecutionOutput[]) =>
  outputs.map(({ toolId, text }) => [toolId, text.length]);

describe('the tool output in a snapshot', () => {
  it('the output collects the pieces of each execution, also if executions alternate', () => {
    const outputs = put(put(put(put([], 'a', '1'), 'b', 'x'), 'a', '2'), 'b', 'y');
    expect(outputs.map(({ toolId, text }) => [toolId, text])).toEqual([
      ['a', '12'],
      ['b', 'xy'],
    ]);
  });

  it('X3 above the limit the output drops the oldest executions, and never the newest', () => {
    const half = 'x'.repeat(MAX_TASK_OUTPUT_CHARS / 2);
    const two = put(put([], 'a', half), 'b', half);
    expect(textsOf(two)).toEqual([
      ['a', half.length],
      ['b', half.length],
    ]);
    expect(textsOf(put(two, 'c', 'y'))).toEqual([
      ['b', half.length],
      ['c', 1],
    ]);
    expect(textsOf(put(two, 'c', half + half + 'x'))).toEqual([['c', MAX_TASK_OUTPUT_CHARS + 1]]);
  });

  it('the kept executions are always the last ones, each with all its text since its first kept piece', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(Math.floor(MAX_TASK_OUTPUT_CHARS / 3))), {
          maxLength: 12,
        }),
        (pieces) => {
          let outputs: readonly ToolExecutionOutput[] = [];
          for (const [toolId, length] of pieces) outputs = put(outputs, toolId, ' '.repeat(length));
          const held = outputs.reduce((sum, { text }) => sum + text.length, 0);
          expect(held <= MAX_TASK_OUTPUT_CHARS || outputs.length === 1).toBe(true);
          expect(new Set(outputs.map(({ toolId }) => toolId)).size).toBe(outputs.length);
        },
      ),
      { numRuns: numberOfRuns(50) },
    );
  });
});
