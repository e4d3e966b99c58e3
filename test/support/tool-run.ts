/** A run of a tool without an executor. */
import { createCall } from '../../a2a-server/task/call-state.ts';
import type { ToolContext, ToolRun } from '../../a2a-server/tools/tool.ts';
import { taskAfter } from './folded-task.ts';

const call = createCall(
  {
    callId: 'call-1',
    modelCallId: 'call-1',
    tool: 'tool',
    title: 'Tool',
    input: {},
    inputHash: '',
    sideEffect: 'none',
    source: { type: 'built-in' },
    preview: { type: 'json', value: {} },
    basis: null,
  },
  1,
  { type: 'ready' },
);

/** Returns a run that allows everything and ignores what the tool reports, except for the given parts. */
export function toolRun(given: Omit<ToolContext, 'principal'> & Partial<ToolRun>): ToolRun {
  return {
    principal: 'ada',
    toolId: 'test-1',
    basis: null,
    output: () => undefined,
    plan: () => undefined,
    ask: nobody,
    goesTo: () => undefined,
    mayRead: () => true,
    stopCause: () => undefined,
    requireClaim: () => undefined,
    answeredLate: () => undefined,
    asked: { call, place: { task: taskAfter(), earlier: [], workspace: given.workspace.root } },
    ...given,
  };
}

/** Fails the test if a tool asks the person a question. */
const nobody = (): Promise<never> => Promise.reject(new Error('nobody is there to be asked'));
