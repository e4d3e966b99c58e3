/**
 * Computes the offline model's next turn from the conversation and the offered tools. Pure. There is no other state, so
 * any process can continue after a restart.
 *
 * The function compares the steps of all unanswered messages with the finished turns. The first step with tool calls
 * that has no finished turn becomes the next turn.
 */
import type { ConversationStep } from '../model.ts';
import { parseOfflineMessage } from './parse-offline-message.ts';
import { plannedCallsOfStep, type OfflinePlanCall, type OfflinePlanStep } from './offline-plan.ts';

/** Text to stream. With `repeat`, `text` is sent that many times. Otherwise `text` is sent word by word. */
export interface SayStep {
  text: string;
  repeat?: number;
}

interface Refusal {
  refused: string;
}

export type OfflineTurn =
  | { type: 'calls'; said: (SayStep | Refusal)[]; calls: OfflinePlanCall[] }
  /**
   * All messages are done. `byForm` is true if one of them was a fixed sentence (docs/offline-model.md, Forms), and not a
   * JSON plan. The task's end then says that no language model is configured.
   */
  | { type: 'end'; said: (SayStep | Refusal)[]; byForm: boolean }
  /** The model does not understand the messages, and has done nothing. */
  | ({ type: 'rejected' } & Refusal);

const MAX_RESULT_CHARS = 10_000;

type ToolResult = Extract<ConversationStep, { role: 'tool' }>['results'][number];

export function nextOfflineTurn(
  conversation: readonly ConversationStep[],
  offered: ReadonlySet<string>,
): OfflineTurn {
  const { messages, turns } = unansweredMessagesAndTurns(conversation);
  const readings = messages.map(({ text, fresh }) => ({ ...parseOfflineMessage(text), fresh }));
  const said: (SayStep | Refusal)[] = readings.flatMap((reading) =>
    reading.type === 'refused' && reading.fresh ? [{ refused: reading.why }] : [],
  );
  const steps = readings.flatMap((reading) => (reading.type === 'steps' ? reading.steps : []));
  const [first] = said;
  if (first !== undefined && 'refused' in first && turns.length === 0 && steps.length === 0)
    return { type: 'rejected', ...first };
  let taken = 0;
  for (const step of steps) {
    const current = taken === turns.length;
    const absent = plannedCallsOfStep(step).find(({ tool }) => !offered.has(tool))?.tool;
    if (step.type === 'say' || absent !== undefined) {
      if (current)
        said.push(step.type === 'say' ? step : { text: `Not done: this task has no tool ${absent}.` });
      continue;
    }
    const results = turns[taken];
    if (results === undefined) return { type: 'calls', said, calls: plannedCallsOfStep(step) };
    taken += 1;
    if (taken === turns.length) said.push({ text: resultsText(step, results) });
  }
  return {
    type: 'end',
    said: said.length > 0 ? said : [{ text: 'There was nothing to do.' }],
    byForm: readings.some((reading) => reading.type === 'steps' && reading.form === true),
  };
}

function resultsText(step: OfflinePlanStep, results: readonly ToolResult[]): string {
  const calls = plannedCallsOfStep(step);
  const lines = calls.map(({ tool }, index) => {
    const text = cutResult(results[index]?.text ?? 'There is no result.');
    return calls.length === 1 ? text : `${tool}: ${text}`;
  });
  return lines.join('\n');
}

function cutResult(text: string): string {
  return text.length <= MAX_RESULT_CHARS
    ? text
    : `${text.slice(0, MAX_RESULT_CHARS)}\n… (${text.length - MAX_RESULT_CHARS} more characters)`;
}

/**
 * Returns the messages and turns after the last turn without tool calls. A turn without calls ends the earlier work.
 */
function unansweredMessagesAndTurns(conversation: readonly ConversationStep[]): {
  messages: { text: string; fresh: boolean }[];
  turns: ToolResult[][];
} {
  const open = conversation.slice(
    conversation.findLastIndex((step) => step.role === 'assistant' && step.calls.length === 0) + 1,
  );
  const lastTurn = open.findLastIndex(({ role }) => role === 'assistant');
  return {
    messages: open.flatMap((step, at) =>
      step.role === 'user' ? [{ text: step.text, fresh: at > lastTurn }] : [],
    ),
    turns: open.flatMap((step) => (step.role === 'tool' ? [step.results] : [])),
  };
}
