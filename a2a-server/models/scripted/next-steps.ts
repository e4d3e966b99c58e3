/**
 * Finds the steps for the next turn of a scripted task. The result depends only on the task's journal, so a turn that
 * is repeated after a crash has the same steps.
 */
import type { UserMessage } from '../../task/events.ts';
import type { ConversationItem } from '../../task/snapshot.ts';
import type { ScriptRule, Script, Sequence } from './script.ts';
import type { ScriptStep } from './step.ts';

/** The newest message chooses the rule. If no rule matches, an unfinished sequence continues. */
export function nextSteps(script: Script, exchanges: readonly ConversationItem[]): readonly ScriptStep[] {
  let sequence: Sequence = [];
  let turn = 0;
  let messages = 0;
  for (const exchange of exchanges) {
    if (exchange.type === 'turn') {
      turn += 1;
      continue;
    }
    messages += 1;
    const rule = ruleFor(script, exchange.message, messages);
    if (rule === undefined && turn < sequence.length) continue;
    sequence = rule?.do ?? script.otherwise;
    turn = 0;
  }
  return sequence[turn] ?? [];
}

/** @param nth the number of the message in its task; 1 is the first */
function ruleFor({ rules }: Script, message: UserMessage, nth: number): ScriptRule | undefined {
  const text = message.parts
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n')
    .toLowerCase();
  return rules.find(
    ({ when }) =>
      (when.messageId === undefined || message.messageId.startsWith(when.messageId)) &&
      (when.text === undefined || text.includes(when.text.toLowerCase())) &&
      (when.turn === undefined || when.turn === nth),
  );
}
