/**
 * Combines the observations of one turn to the view of a task. For agents that report a turn in pieces (gemini-cli).
 * Pure.
 */
import type { PendingAction } from '../../../shared/protocol/tool-approval.ts';
import type { TurnObservation } from '../../dialects/turn-observation.ts';
import { mergeAgentOutput } from './task-outputs.ts';
import type { TaskView } from './observed-task.ts';

/** The prefix of the ids of outputs that contain the agent's answer. A new output starts after each tool call. */
const ANSWER_ID_PREFIX = 'said-';

/**
 * The maximum number of pending actions. It equals the maximum number of calls (`observed-task.ts`), because an action
 * without its call is not pending when the turn ends.
 */
const MAX_PENDING = 200;

/**
 * Applies one observation of a turn to the view.
 * @param view the view of the observed task
 */
export function foldTurnObservation(view: TaskView, observation: TurnObservation): TaskView {
  switch (observation.type) {
    case 'moving': {
      const { outputs, calls, reply } = view;
      // After a turn has ended, the outputs in the view belong to that turn. So the next turn starts without them.
      const over = view.state === 'completed' || (view.state === 'input-required' && view.question !== null);
      const begun = over ? { outputs: [], calls: [], reply: '' } : { outputs, calls, reply };
      const question = view.state === 'working' ? view.question : null;
      const text = observation.text ?? view.text;
      if (view.state === 'working' && text === view.text) return view;
      return {
        ...view,
        ...begun,
        state: 'working',
        question,
        text,
        cost: null,
      };
    }
    case 'said': {
      const output = {
        id: `${ANSWER_ID_PREFIX}${String(view.calls.length)}`,
        name: '',
        text: observation.text,
      };
      return { ...view, outputs: mergeAgentOutput(view.outputs, output, true) };
    }
    case 'account': {
      const heard = view.outputs.filter(({ id }) => id.startsWith(ANSWER_ID_PREFIX));
      const length = heard.reduce((sum, { text }) => sum + text.length, 0);
      // A part of the text may be missing at the agent or in the bridge. So the longer text is used.
      if (length >= observation.text.length) return view;
      const others = view.outputs.filter((output) => !heard.includes(output));
      return {
        ...view,
        outputs: [...others, { id: `${ANSWER_ID_PREFIX}0`, name: '', text: observation.text }],
      };
    }
    case 'asked':
      return withAction(view, observation);
    case 'outdated': {
      const { action, file } = observation;
      const proposal = view.proposals?.get(action.callId);
      if (proposal === undefined) return view;
      return {
        ...view,
        pending: view.pending.map((each) => (each.callId === action.callId ? action : each)),
        proposals: new Map(view.proposals).set(action.callId, { ...proposal, file }),
      };
    }
    case 'tool-output': {
      const { callId, text } = observation;
      return {
        ...view,
        calls: view.calls.map((call) => (call.callId === callId ? { ...call, summary: text } : call)),
      };
    }
    case 'troubled':
      return { ...view, question: observation.question };
    case 'decided': {
      const { callIds } = observation;
      const calls = view.calls.map((call) =>
        callIds.includes(call.callId) && call.state === 'waiting'
          ? { ...call, state: 'ready' as const }
          : call,
      );
      return callIds.length === 0 ? view : { ...view, state: 'working', calls };
    }
    case 'turn-ended':
      return viewAfterTurn(view, observation);
  }
}

function viewAfterTurn(
  view: TaskView,
  { question, told }: Extract<TurnObservation, { type: 'turn-ended' }>,
): TaskView {
  const waiting = new Set(view.calls.filter(({ state }) => state === 'waiting').map(({ callId }) => callId));
  const pending = view.pending.filter(({ callId }) => waiting.has(callId));
  // The agent may no longer have the text of a completed turn. The bridge then keeps the text that it has read.
  if (!told && view.state === 'completed') return view;
  const inWords = told ? question : null;
  const asked = inWords ?? (pending.length > 0 ? null : (view.question ?? question));
  if (asked !== null)
    return { ...view, state: 'input-required', text: asked.text, question: asked, pending: [] };
  const state = pending.length > 0 ? 'input-required' : 'completed';
  return { ...view, state, text: '', question: null, pending };
}

/**
 * Adds a pending action. If the agent asks again about the same call with other content, the action is marked as
 * changed.
 */
function withAction(
  view: TaskView,
  { action, proposal }: Extract<TurnObservation, { type: 'asked' }>,
): TaskView {
  const { callId } = action;
  const before = view.pending.find((each) => each.callId === callId);
  // The agent only repeats its request. The pending action stays, because it may have a newer diff against the current
  // file.
  if (before !== undefined && view.proposals?.get(callId)?.code === proposal.code)
    return { ...view, cost: null };
  const pending: readonly PendingAction[] =
    before === undefined
      ? [...view.pending, action].slice(-MAX_PENDING)
      : view.pending.map((each) => (each === before ? { ...action, reason: 'content-changed' } : each));
  const ids = new Set(pending.map((each) => each.callId));
  const waiting = [...(view.proposals ?? [])].filter(([id]) => ids.has(id));
  return { ...view, pending, proposals: new Map([...waiting, [callId, proposal]]), cost: null };
}
