/** The commands `model` and `model list`: show the models in use, and the models that can be used. */
import { fetchServerHealth } from '../../local-server/fetch-server-health.ts';
import { checkLocalServerState } from '../../local-server/local-server-state.ts';
import { knownModelsText, localModelsText, modelsInUseText } from '../models/model-text.ts';
import { readServerModelReport } from '../context/server-program.ts';
import type { CommandRun } from '../context/run-command.ts';

/**
 * Prints the models in use.
 * @throws ProductError CONFIGURATION if the settings are not valid
 */
export async function showModelCommand({ settings, places, terminal }: CommandRun): Promise<void> {
  const report = await readServerModelReport(settings, places.serverScript);
  const state = await checkLocalServerState(settings.stateDir);
  const running =
    state.type === 'running'
      ? ((await fetchServerHealth(state.record, settings.stateDir))?.agent ?? null)
      : null;
  const { known: _, ...shown } = report;
  terminal.json({ ...shown, running });
  terminal.explain(modelsInUseText(report, terminal.paint));
  const local = localModelsText(report);
  if (local !== '') terminal.say(`\n${local}`);
  if (running !== null && running !== report.agent)
    terminal.explain(
      `\nThe running server uses ${running}. To apply the settings, run: mcp-a2a-bridge server stop. Its tasks go on with the next server.`,
    );
  terminal.explain(
    '\nTo change the model: mcp-a2a-bridge model set <provider>:<model>. "model list" lists models.',
  );
}

const OPENROUTER = 'openrouter:';

/**
 * The command `model list [words]`: prints the known models whose ids contain all words, and the models that programs
 * on this machine serve.
 */
export async function listModelsCommand(
  { settings, places, terminal }: CommandRun,
  words: readonly string[],
): Promise<void> {
  const report = await readServerModelReport(settings, places.serverScript);
  const wanted = (id: string): boolean =>
    words.every((word) => id.toLowerCase().includes(word.toLowerCase()));
  const matching = report.known.filter(({ id }) => wanted(id));
  const local = report.local
    .map((each) => ({ ...each, models: each.models.filter((model) => wanted(`${each.provider}:${model}`)) }))
    .filter(({ models }) => models.length > 0);
  terminal.json({ local, known: matching });
  // OpenRouter has hundreds of models, which would hide the others. So a person sees them only after typing words.
  const known = words.length > 0 ? matching : matching.filter(({ id }) => !id.startsWith(OPENROUTER));
  const hidden = matching.length - known.length;
  if (words.length > 0 && known.length + local.length === 0)
    terminal.explain(`No known model has ${words.map((word) => `"${word}"`).join(' and ')} in its id.\n`);
  if (known.length > 0) terminal.say(`${knownModelsText(known, terminal.width)}\n`);
  if (hidden > 0) terminal.explain(`${hidden} more from OpenRouter: mcp-a2a-bridge model list openrouter\n`);
  terminal.explain(
    local.length > 0
      ? localModelsText({ local })
      : 'This machine serves no model at the usual ports of Ollama, LM Studio, llama.cpp and vLLM.',
  );
  terminal.explain(
    'Prices are US dollars for a million tokens. Other models work too: mcp-a2a-bridge model set <provider>:<model>',
  );
}
