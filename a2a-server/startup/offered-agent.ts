import type { OfferedAgent } from '../../shared/protocol/offered-agent.ts';
import { OFFLINE_MODEL_ID } from '../models/model-settings.ts';
import type { Models } from '../models/model.ts';
import { agentBackendText } from './agent-backend.ts';
import type { ServerSettings } from './settings/settings.ts';

/** Returns the server's agent with the models that differ from its default model. */
export function describeOfferedAgent(
  settings: Pick<ServerSettings, 'agent' | 'model'>,
  models: Models,
): OfferedAgent {
  // Several names may mean the same model, which is offered once. A tier without its own model means the default
  // model. All names of an ACP agent or a script mean its only model.
  const known = new Set([models.resolve(undefined)]);
  const choices: OfferedAgent['models'] = [];
  for (const name of models.list()) {
    const model = models.resolve(name);
    // The offline model is not offered, because it only shows how the server works.
    if (known.has(model) || name === OFFLINE_MODEL_ID) continue;
    known.add(model);
    choices.push({ name, id: model.id });
  }
  return { agent: agentBackendText(settings), models: choices };
}
