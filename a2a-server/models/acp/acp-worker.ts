/** An ACP agent as the one who does the work: its turns, what it asks leave for, and its processes. */
import type { Worker } from '../../worker.ts';
import { acpModels } from './acp-model.ts';
import { LiveAgents } from './live-agents.ts';
import type { AcpOptions } from './open-agent.ts';
import { permissionTools } from './permission-tools.ts';

export function acpWorker(options: AcpOptions): Required<Worker> {
  const agents = new LiveAgents(options);
  return {
    models: acpModels(agents),
    tools: permissionTools(agents),
    onEnded: (task) => agents.ended(task),
    close: () => agents.close(),
  };
}
