/** The model's id, e.g. `anthropic:claude-…`, begins with its provider. The settings list the models. */
export function modelAttributes(
  model: string,
): Record<'gen_ai.operation.name' | 'gen_ai.provider.name' | 'gen_ai.request.model', string> {
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': model.split(':', 1)[0] ?? model,
    'gen_ai.request.model': model,
  };
}
