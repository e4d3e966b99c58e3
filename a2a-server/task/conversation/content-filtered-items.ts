/**
 * Finds the messages and tool results after which a provider's content filter withheld the answer. Later requests omit
 * them. Otherwise one withheld answer would stop the session. Pure.
 *
 * Anthropic: "You must reset the conversation context before continuing. You can remove or rephrase the turn that
 * triggered the refusal. Attempting to continue without resetting will result in continued refusals."
 *
 * Source: https://platform.claude.com/docs/en/test-and-evaluate/strengthen-guardrails/handle-streaming-refusals
 */
import type { ConversationStep } from './conversation.ts';
import type { ConversationItem, Turn } from '../snapshot.ts';

/** True for an answer that the provider withheld. The journal may contain a part of its text. */
export function isContentFiltered({ end, callIds }: Turn): boolean {
  return end === 'content-filter' && callIds.length === 0;
}

/**
 * Returns the items directly before each withheld answer: the messages between that answer and the turn before it. If
 * there are no such messages, the withheld answer followed the tool results of that turn, so returns the turn.
 * @param model the model that gave the withheld answers; by default any model
 */
export function contentFilteredItems(
  items: readonly ConversationItem[],
  model?: string,
): ReadonlySet<ConversationItem> {
  const found = new Set<ConversationItem>();
  for (const [index, item] of items.entries()) {
    if (item.type === 'message' || !isContentFiltered(item.turn)) continue;
    if (model !== undefined && item.turn.model !== model) continue;
    const before = items.slice(0, index);
    const messages = before.slice(before.findLastIndex(({ type }) => type === 'turn') + 1);
    for (const question of messages.length > 0 ? messages : before.slice(-1)) found.add(question);
  }
  return found;
}

/** Replaces a message, or the results of a turn, with a sentence. The calls of the turn stay. */
export function redactedStep(step: ConversationStep): ConversationStep {
  switch (step.role) {
    case 'user':
      return { role: 'user', text: `(This message ${LEFT_OUT})` };
    case 'assistant':
      return step;
    case 'tool':
      return {
        role: 'tool',
        results: step.results.map(({ modelCallId, tool, isError }) => ({
          modelCallId,
          tool,
          text: `(This result ${LEFT_OUT})`,
          isError,
        })),
      };
  }
}

const LEFT_OUT = "is left out, because the model's provider withheld the answer to it.";
