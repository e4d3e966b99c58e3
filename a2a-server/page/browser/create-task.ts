import type { A2aClient, A2aTaskRequest } from '../../../shared/client/index.ts';

/**
 * Starts a task. Resolves when the server has created it, because another view shows its progress.
 * @throws ClientError
 */
export function createTask(client: A2aClient, request: A2aTaskRequest): Promise<string> {
  return new Promise((resolve, reject) => {
    const execution = client.start(request, {
      onProgress: () => {
        const { taskId = null } = execution.report ?? {};
        if (taskId === null) return;
        resolve(taskId);
        execution.detach();
      },
    });
    execution.result.catch(reject);
  });
}
