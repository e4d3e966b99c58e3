/** Creates the backend for an ACP agent: its model, its permission tools and its processes. */
import type { AgentBackend } from './agent-backend.ts';
import { createAcpModels } from '../models/acp/acp-model.ts';
import { LiveAcpAgents } from '../models/acp/live-agents.ts';
import type { AcpOptions } from '../models/acp/open-agent.ts';
import { createPermissionTools } from '../models/acp/permission-tools.ts';

export function createAcpBackend(options: AcpOptions): Required<AgentBackend> {
  const agents = new LiveAcpAgents(options);
  return {
    models: createAcpModels(agents),
    tools: createPermissionTools(agents),
    onEnded: (task) => agents.ended(task),
    close: () => agents.close(),
  };
}
