/** An executor for the SDK's server. It asks a person once, and returns its artifacts after the reply. */
import { type Artifact, type Message, type Part, TaskState } from '@a2a-js/sdk';
import type { AgentExecutor, ExecutionEventBus, RequestContext } from '@a2a-js/sdk/server';
import { firstTask, agentMessage } from './fake-agent-task.ts';

export interface AskingOptions {
  /** The state of the waiting task. `parts` are the parts of the question. */
  state: TaskState.TASK_STATE_AUTH_REQUIRED | TaskState.TASK_STATE_INPUT_REQUIRED;
  parts: Part[];
  /** The artifacts that the agent returns after the reply. */
  artifacts?: Artifact[];
  /** The parts of each message that the agent has received, in order. */
  received: Part[][];
}

export function askingExecutor({ state, parts, artifacts = [], received }: AskingOptions): AgentExecutor {
  return {
    async execute({ taskId, contextId, task, userMessage }: RequestContext, bus: ExecutionEventBus) {
      received.push(userMessage.parts);
      const status = (of: TaskState, said: Part[]) => ({
        state: of,
        timestamp: new Date().toISOString(),
        message: said.length === 0 ? undefined : messageOf(said, { taskId, contextId }),
      });
      const update = (of: TaskState, said: Part[] = []): void =>
        bus.publish({
          kind: 'statusUpdate',
          data: { taskId, contextId, status: status(of, said), metadata: undefined },
        });
      const first = firstTask({ taskId, contextId, userMessage }, TaskState.TASK_STATE_SUBMITTED);
      bus.publish({ kind: 'task', data: task ?? first });
      if (task === undefined) update(state, parts);
      else {
        update(TaskState.TASK_STATE_WORKING);
        for (const artifact of artifacts)
          bus.publish({
            kind: 'artifactUpdate',
            data: { taskId, contextId, artifact, append: false, lastChunk: true, metadata: undefined },
          });
        update(TaskState.TASK_STATE_COMPLETED);
      }
      bus.finished();
    },
    cancelTask: async () => undefined,
  };
}

function messageOf(parts: Part[], ids: { taskId: string; contextId: string }): Message {
  return agentMessage(parts, { ...ids, messageId: `${ids.taskId}-asks` });
}
