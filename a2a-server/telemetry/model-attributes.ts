/**
 * Returns the attributes of a model. Its id, e.g. `anthropic:claude-…`, begins with the provider. The settings list the
 * models, so there are few different ids.
 */
export function modelAttributes(
  model: string,
): Record<'gen_ai.operation.name' | 'gen_ai.provider.name' | 'gen_ai.request.model', string> {
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': model.split(':', 1)[0] ?? model,
    'gen_ai.request.model': model,
  };
}
