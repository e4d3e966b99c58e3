/** An executor for the SDK's server that sends a few words one by one and completes. It counts its runs. */
import { setTimeout as pause } from 'node:timers/promises';
import { TaskState } from '@a2a-js/sdk';
import type { AgentExecutor } from '@a2a-js/sdk/server';
import { part, firstTask } from './fake-agent-task.ts';

const WORDS = ['one ', 'two ', 'three ', 'four ', 'five ', 'six'];
/** Delay between two words, in milliseconds. */
const WORD_DELAY_MS = 40;

const status = (state: TaskState) => ({
  state,
  timestamp: new Date().toISOString(),
  message: undefined,
});

interface SlowSpeaker extends AgentExecutor {
  runs: number;
}

export function slowSpeaker(): SlowSpeaker {
  const speaker: SlowSpeaker = {
    runs: 0,
    async execute({ taskId, contextId, userMessage }, bus) {
      speaker.runs += 1;
      const first = firstTask({ taskId, contextId, userMessage }, TaskState.TASK_STATE_WORKING);
      bus.publish({ kind: 'task', data: first });
      for (const [index, word] of WORDS.entries()) {
        await pause(WORD_DELAY_MS);
        const artifact = {
          artifactId: 'words',
          name: 'words',
          description: '',
          parts: [part({ $case: 'text', value: word })],
          metadata: undefined,
          extensions: [],
        };
        const lastChunk = index === WORDS.length - 1;
        bus.publish({
          kind: 'artifactUpdate',
          data: { taskId, contextId, artifact, append: index > 0, lastChunk, metadata: undefined },
        });
      }
      bus.publish({
        kind: 'statusUpdate',
        data: { taskId, contextId, status: status(TaskState.TASK_STATE_COMPLETED), metadata: undefined },
      });
      bus.finished();
    },
    cancelTask: async () => undefined,
  };
  return speaker;
}
