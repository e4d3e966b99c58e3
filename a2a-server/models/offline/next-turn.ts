/**
 * Computes the next turn of the offline model from the conversation and the offered tools. Pure. It has no state, so
 * the model continues after a restart or in another process.
 *
 * It compares the steps of all unanswered messages with the existing turns of the conversation. The first step without
 * a turn is the next turn.
 */
import type { ConversationStep } from '../model.ts';
import { readMessage } from './read-message.ts';
import { callsOfStep, type PlannedCall, type PlanStep } from './step.ts';

/** Text to stream: `repeat` chunks of `text`, or `text` word by word. */
export interface SayStep {
  text: string;
  repeat?: number;
}

/** A message that the model does not understand. */
interface Refusal {
  refused: string;
}

export type NextTurn =
  | { type: 'calls'; said: (SayStep | Refusal)[]; calls: PlannedCall[] }
  /** The next turn is the last turn. */
  | { type: 'end'; said: (SayStep | Refusal)[] }
  /** The model cannot do the task, and has done nothing. */
  | ({ type: 'rejected' } & Refusal);

/** Maximum characters of a tool's result in the model's text. */
const MAX_REPEATED = 10_000;

type Result = Extract<ConversationStep, { role: 'tool' }>['results'][number];

export function nextTurn(conversation: readonly ConversationStep[], offered: ReadonlySet<string>): NextTurn {
  const { messages, turns } = unanswered(conversation);
  const readings = messages.map(({ text, fresh }) => ({ ...readMessage(text), fresh }));
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
    const absent = callsOfStep(step).find(({ tool }) => !offered.has(tool))?.tool;
    if (step.type === 'say' || absent !== undefined) {
      if (current)
        said.push(step.type === 'say' ? step : { text: `Not done: this task has no tool ${absent}.` });
      continue;
    }
    const results = turns[taken];
    if (results === undefined) return { type: 'calls', said, calls: callsOfStep(step) };
    taken += 1;
    if (taken === turns.length) said.push({ text: report(step, results) });
  }
  return { type: 'end', said: said.length > 0 ? said : [{ text: 'There was nothing to do.' }] };
}

function report(step: PlanStep, results: readonly Result[]): string {
  const calls = callsOfStep(step);
  const lines = calls.map(({ tool }, index) => {
    const text = cut(results[index]?.text ?? 'There is no result.');
    return calls.length === 1 ? text : `${tool}: ${text}`;
  });
  return lines.join('\n');
}

function cut(text: string): string {
  return text.length <= MAX_REPEATED
    ? text
    : `${text.slice(0, MAX_REPEATED)}\n… (${text.length - MAX_REPEATED} more characters)`;
}

/** Returns the messages and turns since the last turn without calls, because such a turn ends earlier work. */
function unanswered(conversation: readonly ConversationStep[]): {
  messages: { text: string; fresh: boolean }[];
  turns: Result[][];
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
