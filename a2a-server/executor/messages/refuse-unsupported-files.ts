/** Refuses a message with files that the task's model does not accept. */
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { Model, Models } from '../../models/model.ts';
import type { UserMessage } from '../../task/events.ts';
import { messageFiles } from '../../task/task-files.ts';

/**
 * @param name the model of the task, by tier or id; undefined for the default
 * @throws ProductError UNSUPPORTED_CONTENT, which names the models that accept the files
 */
export function refuseUnsupportedFiles(message: UserMessage, name: string | undefined, models: Models): void {
  const files = messageFiles(message);
  const types = [...new Set(files.map(({ mediaType }) => mediaType))];
  // A decision must work even if the server no longer offers the model. So only a message with files resolves the
  // model.
  if (types.length === 0) return;
  const model = models.resolve(name);
  const refused = types.filter((type) => !acceptsType(model, type));
  if (refused.length === 0) return;
  const named = files.flatMap((file) =>
    file.name !== undefined && refused.includes(file.mediaType) ? [file.name] : [],
  );
  const which = named.length === 0 ? '' : ` (${named.join(', ')})`;
  throw new ProductError(
    'UNSUPPORTED_CONTENT',
    `The model ${model.id} takes no ${refused.join(' and no ')}${which}. Nothing was sent to it. ${model.fileAdvice ?? nextStep(types, models)}`,
    { facts: { model: model.id, types: refused.join(' ') } },
  );
}

function nextStep(types: readonly string[], models: Models): string {
  const able = models
    .list()
    .map((each) => models.resolve(each))
    .filter((each) => types.every((type) => acceptsType(each, type)))
    .map(({ id }) => id);
  return able.length === 0
    ? 'No model of this server takes it: describe the content in words, or offer another model (--other-model).'
    : `Start a new session with a model that takes it: ${[...new Set(able)].join(', ')}.`;
}

function acceptsType({ inputModes = [] }: Model, type: string): boolean {
  return inputModes.includes(type);
}
