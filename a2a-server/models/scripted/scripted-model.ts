/** Implements the scripted agent. It uses the normal executor and journal, and a script instead of a language model. */
import { onAbort } from '../../../shared/runtime/abort.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { delay } from '../../runtime/timeout.ts';
import type { TurnEnd, UserMessage } from '../../task/events.ts';
import { NO_USAGE, type Model, type ModelEvent, type Models } from '../model.ts';
import { offerOneModel } from '../offer-one-model.ts';
import type { Script, ScriptRule, ScriptTurns } from './script.ts';
import type { ScriptStep } from './script-step.ts';
import type { ConversationItem } from '../../task/snapshot.ts';

export function createScriptedModels(script: Script, clock: Clock): Models {
  return offerOneModel(scriptedModel(script, clock), 'its agent follows a script');
}

function scriptedModel(script: Script, clock: Clock): Model {
  return {
    id: 'scripted',
    async *stream({ exchanges, signal }) {
      let end: TurnEnd = 'stop';
      for (const step of nextScriptSteps(script, exchanges)) {
        if (step.type === 'delay') await delay(clock, step.value, signal);
        else if (step.type === 'stayWorking') await waitForAbort(signal);
        else end = yield* runStep(step);
      }
      yield { type: 'finish', end, usage: NO_USAGE };
    },
    answersWith(message) {
      const steps = nextScriptSteps(script, [{ type: 'message', message }]);
      return steps.some(({ type }) => type === 'message') ? 'message' : 'task';
    },
  };
}

/** Runs a step. @returns how the turn ends if no further step of the turn follows */
function* runStep(
  step: Exclude<ScriptStep, { type: 'delay' | 'stayWorking' }>,
): Generator<ModelEvent, TurnEnd, undefined> {
  switch (step.type) {
    case 'text':
      for (const text of step.value) yield { type: 'text', text };
      return 'stop';
    case 'artifact':
      yield { type: 'artifact', ...step.value };
      return 'stop';
    case 'status':
      yield { type: 'note', text: step.value };
      return 'stop';
    case 'call':
    case 'calls':
      for (const [index, call] of step.value.entries())
        yield { type: 'call', modelCallId: `call-${index + 1}`, ...call };
      return 'tool-calls';
    case 'inputRequired':
      return { type: 'input-required', question: step.value === true ? null : step.value };
    case 'authRequired':
      return { type: 'auth-required', question: step.value };
    case 'message':
    case 'complete':
      return { type: 'completed', message: step.value };
    case 'reject':
      return { type: 'rejected', message: step.value };
    case 'fail':
      return { type: 'failed', message: step.value };
  }
}

async function waitForAbort(signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    onAbort(signal, resolve);
  });
  signal.throwIfAborted();
}

/**
 * Returns the steps for the next turn. The newest message selects a rule, and with it a sequence of turns. If no rule
 * matches, the unfinished sequence of an earlier message continues. If there is none, the sequence `otherwise` begins.
 * The result depends only on the task's journal. A turn that repeats after a crash therefore has the same steps.
 */
export function nextScriptSteps(
  script: Script,
  exchanges: readonly ConversationItem[],
): readonly ScriptStep[] {
  let sequence: ScriptTurns = [];
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

/** @param nth the number of the message in its task, starting at 1 */
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
