/** What the model is shown: the session's earlier tasks and this one, as one conversation. Pure. */
import { answerText } from '../../shared/protocol/question-text.ts';
import { commandLine } from '../../shared/protocol/agent-command.ts';
import type { ToolOutcome, UserMessage } from './events.ts';
import { callsOf, questionOf, type Call, type Snapshot, type Turn } from './snapshot.ts';

export interface ModelCall {
  modelCallId: string;
  tool: string;
  input: Record<string, unknown>;
}

/** One step of the conversation, as every model understands it. */
export type ConversationStep =
  | { role: 'user'; text: string }
  | { role: 'assistant'; text: string; calls: ModelCall[] }
  | { role: 'tool'; results: { modelCallId: string; tool: string; text: string; isError: boolean }[] };

/**
 * @param earlier snapshots of the session's ended tasks, oldest first.
 * @returns steps in which every call of the model has a result, as providers demand.
 */
export function conversation(earlier: readonly Snapshot[], current: Snapshot): ConversationStep[] {
  return [...earlier, current].flatMap((snapshot) => [
    ...snapshot.exchanges.flatMap((exchange) =>
      exchange.type === 'message' ? [said(exchange.message)] : turnSteps(snapshot, exchange.turn),
    ),
    ...snapshot.queued.map(said),
    ...calledOff(snapshot),
  ]);
}

/** Without a word of it a model would take up the rest of a task that was called off with the session's next one. */
function calledOff({ status }: Snapshot): ConversationStep[] {
  if (status.state === 'canceled')
    return [noted(`The task was canceled; what was left of it is not to be done. Reason: ${status.reason}`)];
  if (status.state === 'rejected') return [noted(`The task was rejected and not begun: ${status.message}`)];
  return [];
}

function noted(text: string): ConversationStep {
  return { role: 'assistant', text: `(${text})`, calls: [] };
}

function said(message: UserMessage): ConversationStep {
  if (message.command) return { role: 'user', text: `(Carried out: ${commandLine(message.command)})` };
  const text = message.parts
    .map((part) => (part.type === 'text' ? part.text : JSON.stringify(part.data, null, 2)))
    .join('\n\n');
  return { role: 'user', text };
}

function turnSteps(snapshot: Snapshot, turn: Turn): ConversationStep[] {
  const calls = callsOf(snapshot, turn);
  const assistant: ConversationStep = {
    role: 'assistant',
    text: turn.text,
    calls: calls.map((call) => ({
      modelCallId: call.modelCallId,
      tool: call.tool,
      input: call.originalInput ?? call.input,
    })),
  };
  if (calls.length === 0) return turn.text === '' ? [] : [assistant];
  return [
    assistant,
    {
      role: 'tool',
      results: calls.map((call) => ({
        modelCallId: call.modelCallId,
        tool: call.tool,
        ...resultOf(call),
      })),
    },
  ];
}

/** What the model is told of a call, with what a person changed (D4). */
export function resultOf(call: Call): { text: string; isError: boolean } {
  if (call.state.type !== 'settled')
    return { text: 'This call was not run: the task ended first.', isError: true };
  const { result } = call.state;
  const because = 'reason' in result && result.reason ? ` Reason: ${result.reason}` : '';
  switch (result.type) {
    case 'answered':
      return { text: answerText(result.answer), isError: false };
    case 'withdrawn':
      return { text: 'The question was withdrawn before anybody answered it.', isError: true };
    case 'denied':
      if (questionOf(call) !== undefined)
        return { text: `The person declined to answer.${because}`, isError: true };
      return { text: `The person denied this call; it was not run.${because}`, isError: true };
    case 'skipped':
      return {
        text: `The server stopped while this call ran. Whether it took effect is unknown, and the person chose not to run it again.${because}`,
        isError: true,
      };
    case 'refused':
      return { text: result.message, isError: true };
    case 'ran': {
      const ran = outcomeText(result.outcome);
      if (call.originalInput === null) return ran;
      const edit = `The person changed the input before approving. It ran with: ${JSON.stringify(call.input)}`;
      return { ...ran, text: `${edit}\n\n${ran.text}` };
    }
  }
}

function outcomeText(outcome: ToolOutcome): { text: string; isError: boolean } {
  switch (outcome.type) {
    case 'ok':
      return { text: outcome.text, isError: false };
    case 'error':
      return { text: outcome.message, isError: true };
    case 'stopped': {
      const doubt = outcome.confirmed
        ? ''
        : ' It did not confirm that it stopped and may have had an effect.';
      const output = outcome.text === '' ? '' : `\n\nOutput by then:\n${outcome.text}`;
      return { text: `${outcome.message}${doubt}${output}`, isError: true };
    }
  }
}
