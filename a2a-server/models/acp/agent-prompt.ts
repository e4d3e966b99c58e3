/** Writes the prompts of an ACP agent: the person's messages, and the earlier context after a restart. Pure. */
import { resultForModel } from '../../task/result-for-model.ts';
import { userMessageText, conversationSegments } from '../../task/conversation/conversation.ts';
import type { UserMessage } from '../../task/events.ts';
import {
  callsOfTurn,
  type Call,
  type ConversationItem,
  type Snapshot,
  type TaskWithEarlierTasks,
  type Turn,
} from '../../task/snapshot.ts';
import { summaryTranscript } from '../../task/conversation/summary-transcript.ts';
import { cutMiddle } from '../../../shared/text/shortened-text.ts';

/**
 * The maximum length of the conversation in a prompt, in characters. A prompt contains the conversation if the agent
 * does not remember it.
 */
const MAX_TRANSCRIPT_CHARS = 100_000;
const MAX_REQUEST_CHARS = 10_000;
const MAX_RESULT_CHARS = 1_000;

const INTERRUPTED =
  'Your work on the following task was interrupted, and you were started again. Check what is done, and continue from there. Do not repeat finished steps.';
const READ_ONLY = 'Only read: change nothing, and run nothing that changes anything.';

export interface AcpPrompt {
  text: string;
  messages: readonly string[];
}

export function buildAcpPrompt({ settings }: Snapshot, messages: readonly UserMessage[]): AcpPrompt {
  const words = messages.length > 0 ? messages.map(userMessageText) : ['Continue.'];
  return {
    text: [...(settings.readOnly ? [READ_ONLY] : []), ...words].join('\n\n'),
    messages: messages.map(({ messageId }) => messageId),
  };
}

/**
 * Writes the first prompt after the agent's start.
 * @param remembers true if the agent resumed its session and knows the earlier conversation
 */
export function buildAcpPromptAfterStart(
  { task, earlier }: Pick<TaskWithEarlierTasks, 'task' | 'earlier'>,
  remembers: boolean,
): AcpPrompt {
  const open = sinceLastAnswer(task);
  const broken = open.some(({ type }) => type === 'turn') || hasAbandonedTurn(task);
  const known = remembers ? '' : earlierConversationText(task, earlier, open);
  const text = [
    ...(known === '' ? [] : ['The conversation so far:', known, '---']),
    ...previousTaskNote(earlier),
    ...(broken ? [INTERRUPTED] : []),
    buildAcpPrompt(task, messagesIn(open)).text,
    ...(broken ? [...saidIn(open), ...permissionResults(open, task)] : []),
  ];
  return {
    text: text.join('\n\n'),
    messages: messagesIn(task.exchanges).map(({ messageId }) => messageId),
  };
}

/** Writes the prompt for an agent that continues after a cancelled prompt. */
export function buildAcpPromptAfterCancel(task: Snapshot, messages: readonly UserMessage[]): AcpPrompt {
  const next = buildAcpPrompt(task, messages);
  const text = [
    'Your last step was stopped.',
    ...permissionResults(sinceLastAnswer(task), task),
    'Continue without that step.',
    ...(messages.length > 0 ? [next.text] : []),
  ];
  return { ...next, text: text.join('\n\n') };
}

/**
 * Returns the exchanges after the last turn with a complete answer. A restarted agent might not know these exchanges.
 */
function sinceLastAnswer({ exchanges }: Snapshot): readonly ConversationItem[] {
  const last = exchanges.findLastIndex((exchange) => exchange.type === 'turn' && isAnswer(exchange.turn));
  return exchanges.slice(last + 1);
}

/**
 * True if the turn completed an answer. False if the turn ended with tool calls, because the prompt is then still open.
 * Also false after a sign-in request, because such a turn sent no prompt.
 */
function isAnswer({ end }: Turn): boolean {
  return typeof end === 'object' ? end?.type !== 'auth-required' : end !== 'tool-calls';
}

function hasAbandonedTurn({ exchanges, turns, openTurn }: Snapshot): boolean {
  const finished = exchanges.filter(({ type }) => type === 'turn').length;
  return turns - (openTurn === null ? 0 : 1) > finished;
}

function messagesIn(exchanges: readonly ConversationItem[]): UserMessage[] {
  return exchanges.flatMap((exchange) => (exchange.type === 'message' ? [exchange.message] : []));
}

function turnsIn(exchanges: readonly ConversationItem[]): Turn[] {
  return exchanges.flatMap((exchange) => (exchange.type === 'turn' ? [exchange.turn] : []));
}

/** Describes the previous task if it failed or was cancelled. The agent might not know the outcome. */
function previousTaskNote(earlier: readonly Snapshot[]): string[] {
  const last = earlier.at(-1);
  switch (last?.status.state) {
    case 'failed': {
      const asked = cutMiddle(
        messagesIn(last.exchanges).map(userMessageText).join('\n\n'),
        MAX_REQUEST_CHARS,
      );
      return [`(The previous task failed: ${last.status.message} Its request was: ${asked})`];
    }
    case 'canceled':
      return [`(The previous task was cancelled. Do not do the rest of it. Reason: ${last.status.reason})`];
    case 'submitted':
    case 'working':
    case 'input-required':
    case 'auth-required':
    case 'completed':
    case 'rejected':
    case undefined:
      return [];
  }
}

/** Returns the agent's text before the interruption. The agent might not remember this text. */
function saidIn(open: readonly ConversationItem[]): string[] {
  const words = turnsIn(open).flatMap(({ text }) => (text === '' ? [] : [text]));
  return words.length === 0
    ? []
    : [`Your answer before the interruption: ${cutMiddle(words.join('\n\n'), MAX_TRANSCRIPT_CHARS)}`];
}

function permissionResults(open: readonly ConversationItem[], task: Snapshot): string[] {
  const lines = turnsIn(open)
    .flatMap((turn) => callsOfTurn(task, turn))
    .map(lineOf);
  return lines.length === 0 ? [] : [['The results of your permission requests:', ...lines].join('\n')];
}

function lineOf(call: Call): string {
  if (call.state.type === 'ready' || call.state.type === 'running')
    return `- ${call.title}: the person approved it, but it has not run. Request it again, exactly as before: it will be allowed.`;
  return `- ${call.title}: ${cutMiddle(resultForModel(call).text, MAX_RESULT_CHARS)}`;
}

/** Returns the earlier conversation. @param open later exchanges, which the prompt repeats in detail */
function earlierConversationText(
  task: Snapshot,
  earlier: readonly Snapshot[],
  open: readonly ConversationItem[],
): string {
  const exchanges = task.exchanges.slice(0, task.exchanges.length - open.length);
  return summaryTranscript(conversationSegments(earlier, { ...task, exchanges }), MAX_TRANSCRIPT_CHARS);
}
