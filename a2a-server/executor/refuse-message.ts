/** Refuses a message that the model of its task does not take: a long text, or files of other types. */
import { ProductError } from '../../shared/runtime/errors.ts';
import type { Model, Models } from '../models/model.ts';
import type { UserMessage } from '../task/events.ts';
import { tokensOf } from '../task/context-reduction.ts';
import { messageText } from '../task/conversation.ts';
import { messageFiles } from '../task/task-files.ts';

/** A shorter text is accepted without a look at the model. It has at most 4,000 tokens. In UTF-16 code units. */
const SHORT_TEXT = 4_000;
/** The part of a context window that one message may fill. The first message of a live task is never shortened. */
const MESSAGE_SHARE = 1 / 2;

/**
 * Refuses a message that leaves too little of the context window. If it were accepted, the task could not begin.
 * @param name the model of the task, by tier or id; undefined for the default
 * @throws ProductError TOO_LARGE. Nothing has changed then.
 */
export function refuseLongMessage(message: UserMessage, name: string | undefined, models: Models): void {
  const text = messageText(message);
  if (message.command !== undefined || text.length <= SHORT_TEXT) return;
  const { id, contextWindow } = models.resolve(name);
  const most = Math.floor((contextWindow ?? Infinity) * MESSAGE_SHARE);
  const tokens = tokensOf(text);
  if (tokens <= most) return;
  throw new ProductError(
    'TOO_LARGE',
    `The message has about ${String(tokens)} tokens. A message to the model ${id} may have ${String(most)}, half of its context window. Nothing was sent to it. Put the text into a file of the workspace and name the file in the message, or choose a model with a larger window.`,
    { facts: { model: id, tokens: String(tokens), most: String(most) } },
  );
}

/**
 * @param name the model of the task, by tier or id; undefined for the default
 * @throws ProductError UNSUPPORTED_CONTENT, which names the models that take the files. Nothing has changed then.
 */
export function refuseFiles(message: UserMessage, name: string | undefined, models: Models): void {
  const files = messageFiles(message);
  const types = [...new Set(files.map(({ mediaType }) => mediaType))];
  // A decision must work even if the server no longer offers the model. So resolve the model only for a message with
  // files.
  if (types.length === 0) return;
  const model = models.resolve(name);
  const refused = types.filter((type) => !takes(model, type));
  if (refused.length === 0) return;
  const named = files.flatMap((file) =>
    file.name !== undefined && refused.includes(file.mediaType) ? [file.name] : [],
  );
  const which = named.length === 0 ? '' : ` (${named.join(', ')})`;
  throw new ProductError(
    'UNSUPPORTED_CONTENT',
    `The model ${model.id} takes no ${refused.join(' and no ')}${which}. Nothing was sent to it. ${nextStep(types, models)}`,
    { facts: { model: model.id, types: refused.join(' ') } },
  );
}

function nextStep(types: readonly string[], models: Models): string {
  const able = models
    .list()
    .map((each) => models.resolve(each))
    .filter((each) => types.every((type) => takes(each, type)))
    .map(({ id }) => id);
  return able.length === 0
    ? 'No model of this server takes it: describe the content in words, or offer another model (--other-model).'
    : `Start a new session with a model that takes it: ${[...new Set(able)].join(', ')}.`;
}

function takes({ inputModes = [] }: Model, type: string): boolean {
  return inputModes.includes(type);
}
