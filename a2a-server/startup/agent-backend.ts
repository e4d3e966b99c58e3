import { systemClock } from '../../shared/runtime/clock.ts';
import type { Models } from '../models/model.ts';
import type { ProviderRetryPolicy } from '../models/retry-policy.ts';
import { acpAgentName } from '../models/acp/agent-program.ts';
import { createCheckedModels } from './configured-models.ts';
import { modelChoice } from './model-advice.ts';
import { NO_CHILD_RECORDS, type ChildProcessRecords } from '../processes/child-process-records.ts';
import type { ServerSettings } from './settings/settings.ts';
import type { Snapshot } from '../task/snapshot.ts';
import { commandEnvironment } from '../tools/shell/command-environment.ts';
import type { Tool } from '../tools/tool.ts';

/** The time limit for an ACP agent's response to each set-up request. `npx` may first download the agent. */
const START_MS = 60_000;
/** The time after a permission request in which further requests are gathered. They are shown together. */
const GATHER_MS = 50;

export interface AgentBackend {
  models: Models;
  /** The tools of the agent. Absent if the backend uses the server's built-in tools. */
  tools?: readonly Tool[];
  onEnded?: (task: Snapshot) => void;
  /** Stops the backend's processes. The server calls this after the shutdown of the tasks. */
  close: () => Promise<void>;
}

/**
 * Creates the agent that runs the tasks, as the setting `agent` specifies.
 * @param children records the agent's processes
 * @param retryPolicy the retry policy for failing providers
 * @throws ProductError CONFIGURATION
 */
export async function createAgentBackend(
  settings: ServerSettings,
  children: ChildProcessRecords = NO_CHILD_RECORDS,
  retryPolicy?: ProviderRetryPolicy,
): Promise<AgentBackend> {
  const { agent } = settings;
  switch (agent.type) {
    case 'model':
      return {
        models: createCheckedModels(settings, process.env, {
          retryPolicy,
          choice: modelChoice(settings, process.argv[1]),
        }),
        close: doNothing,
      };
    case 'scripted': {
      const { readScript } = await import('../models/scripted/script.ts');
      const { createScriptedModels } = await import('../models/scripted/scripted-model.ts');
      return { models: createScriptedModels(await readScript(agent.file), systemClock), close: doNothing };
    }
    case 'acp': {
      const { createAcpBackend } = await import('./acp-backend.ts');
      return createAcpBackend({
        agent,
        env: commandEnvironment(process.env, settings.passEnv),
        clock: systemClock,
        startMs: START_MS,
        graceMs: settings.grace,
        idleMs: settings.agentIdleTimeout,
        gatherMs: GATHER_MS,
        children,
      });
    }
  }
}

/** Describes the program that runs the tasks: the default model, or the agent. */
export function agentBackendText({ agent, model }: Pick<ServerSettings, 'agent' | 'model'>): string {
  switch (agent.type) {
    case 'model':
      return model;
    case 'scripted':
      return `the script ${agent.file}`;
    case 'acp':
      return `the ACP agent ${acpAgentName(agent)}`;
  }
}

function doNothing(): Promise<void> {
  return Promise.resolve();
}
