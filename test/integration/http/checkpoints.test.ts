/** Tests the routes of checkpoints on a real server with real files. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  restorePreviewSchema,
  taskCheckpointsSchema,
  type RestorePreview,
  type TaskCheckpoints,
} from '../../../shared/protocol/task-checkpoints.ts';
import { append, plan, shell, write, type PlannedStep } from '../../support/offline-plan.ts';
import { stage, type Stage } from '../../support/stage.ts';
import { OTHER_TOKEN, request, startServer } from './test-server.ts';

describe('the checkpoints of a task', () => {
  let on: Stage;
  beforeEach(async () => {
    on = await stage();
  });

  async function get(path: string): Promise<unknown> {
    const response = await fetch(`${on.server.url}/api/tasks/${path}`, {
      headers: { authorization: `Bearer ${on.server.token}` },
    });
    return response.ok ? response.json() : response.status;
  }
  const list = async (taskId: string): Promise<TaskCheckpoints> =>
    taskCheckpointsSchema.parse(await get(`${taskId}/checkpoints`));
  const preview = async (taskId: string, rest: string): Promise<RestorePreview> =>
    restorePreviewSchema.parse(await get(`${taskId}/checkpoints/${rest}`));
  const personWrites = (name: string, content: string | Uint8Array): Promise<void> =>
    writeFile(join(on.server.workspace, name), content);

  /** Runs a task to its end without questions. */
  async function did(...steps: PlannedStep[]): Promise<{ taskId: string; sessionId: string }> {
    const { taskId, sessionId, state } = await on.peer.send(plan(...steps), {
      settings: { autoExecute: true },
    });
    expect(state).toBe('COMPLETED');
    return { taskId, sessionId };
  }

  it('the list has each turn that changed files, with its files and its other calls', async () => {
    await personWrites('kept.txt', 'one\n');
    const { taskId } = await did({
      together: [write('kept.txt', 'two\n'), write('new.txt', 'new'), shell('echo x > y')],
    });
    expect(await list(taskId)).toMatchObject({
      checkpoints: [
        {
          id: `${taskId}.1`,
          turn: 1,
          files: [
            { path: 'kept.txt', change: 'changed' },
            { path: 'new.txt', change: 'created' },
          ],
          commands: [expect.stringContaining('echo x > y')],
        },
      ],
      workspace: on.server.workspace,
      liveTask: null,
    });
  });

  it('a task that changed no file has no checkpoint, and names the live task of its session', async () => {
    const { taskId, sessionId } = await did({ say: 'Said.' });
    const live = await on.peer.send(plan(write('a.txt', 'x')), { sessionId });
    expect(await list(taskId)).toMatchObject({ checkpoints: [], liveTask: { taskId: live.taskId } });
    expect((await list(live.taskId)).liveTask?.taskId).toBe(live.taskId);
  });

  it('the preview of a restoration has each file with its counts, and changes nothing', async () => {
    await personWrites('kept.txt', 'one\ntwo\n');
    await personWrites('raw', Buffer.from([0, 1, 2]));
    const { taskId } = await did({
      together: [
        write('kept.txt', 'one\n'),
        write('new.txt', 'a\nb\n'),
        { tool: 'delete-file', input: { path: 'raw' } },
      ],
    });
    const shown = await preview(taskId, '1');
    expect(shown).toMatchObject({
      type: 'ready',
      files: [
        { path: 'kept.txt', change: 'changed', lines: { added: 1, removed: 0 } },
        { path: 'new.txt', change: 'deleted', lines: { added: 0, removed: 2 } },
        { path: 'raw', change: 'created', lines: null },
      ],
      left: [],
      diff: expect.stringContaining('+two'),
    });
    expect(await on.file('kept.txt')).toBe('one\n');
  });

  it('the preview has the same diff as the question about the restoration', async () => {
    const { taskId } = await did(append('a.txt', 'one\n'));
    const shown = await preview(taskId, '1');
    const command = {
      extension: 'urn:mcp-a2a-bridge:agent-command:v1',
      command: 'checkpoint restore',
      args: [`${taskId}.1`],
    };
    const { pending } = await on.peer.send([{ data: command, mediaType: 'application/json' }]);
    const [question] = pending;
    expect(question?.preview).toMatchObject({ type: 'diff', diff: 'diff' in shown ? shown.diff : '' });
  });

  it('if a file has changed since, the preview names it; with the later turns it is ready', async () => {
    const first = await did({ together: [append('a.txt', '1'), append('b.txt', '1')] });
    await did(append('a.txt', '2'));
    expect(await preview(first.taskId, '1')).toEqual({ type: 'changed-since', paths: ['a.txt'] });
    expect(await preview(first.taskId, '1?since=true')).toMatchObject({
      type: 'ready',
      files: [{ path: 'a.txt' }, { path: 'b.txt' }],
    });
    await personWrites('b.txt', 'mine');
    expect(await preview(first.taskId, '1?since=true')).toEqual({ type: 'changed-since', paths: ['b.txt'] });
    const odd = await did(append('odd\nname.txt', '1'));
    await personWrites('odd\nname.txt', 'mine');
    expect(await preview(odd.taskId, '1')).toEqual({ type: 'changed-since', paths: ['odd\nname.txt'] });
  });

  it('if nothing is left to restore, the preview says so', async () => {
    await personWrites('a.txt', 'old');
    const { taskId } = await did(write('a.txt', 'new'));
    await personWrites('a.txt', 'old');
    expect(await preview(taskId, '1')).toEqual({
      type: 'refused',
      message: 'There is nothing to restore: a.txt (unchanged).',
    });
  });

  it('an unknown turn and a wrong query get an error', async () => {
    const { taskId } = await did(append('a.txt', '1'));
    expect(await get(`${taskId}/checkpoints/9`)).toBe(404);
    expect(await get(`${taskId}/checkpoints/1?sinse=true`)).toBe(400);
  });
});

it('X1 another principal and a missing token get no checkpoints', async () => {
  const server = await startServer();
  const { taskId } = server.tasks.begin();
  const status = async (authorization: string): Promise<number> =>
    (
      await request(server, {
        method: 'GET',
        path: `/api/tasks/${taskId}/checkpoints`,
        headers: { authorization },
      })
    ).status;
  expect(await status(`Bearer ${OTHER_TOKEN}`)).toBe(404);
  expect(await status('')).toBe(401);
  await server.close();
});
