/** Tests `GET /api/tasks/:taskId/calls/:callId/input-schema` on a real server. */
import { expect, it } from '@jest/globals';
import { z } from 'zod';
import { plan, shell } from '../../support/offline-plan.ts';
import { jsonOf } from '../../support/rpc-answer.ts';
import { stage } from '../../support/stage.ts';

const answer = z.object({ schema: z.looseObject({ properties: z.record(z.string(), z.unknown()) }) });

it('the server returns the JSON Schema of a call, and an error for an unknown task or call', async () => {
  const { peer } = await stage();
  const { taskId, pending } = await peer.send(plan(shell('echo 1')));
  const get = (task: string, call: string) =>
    peer.request(`/api/tasks/${task}/calls/${call}/input-schema`, { method: 'GET' });
  const found = answer.parse(await jsonOf(await get(taskId, pending[0]?.callId ?? '')));
  expect(Object.keys(found.schema.properties)).toContain('command');
  expect((await get(taskId, 'call-other')).status).toBe(400);
  expect((await get('task-other', 'call-other')).status).toBe(404);
});

it('X1 without a token, the server returns no schema', async () => {
  const { peer } = await stage();
  const { status } = await peer.request('/api/tasks/task-1/calls/call-1/input-schema', {
    method: 'GET',
    headers: { Authorization: '' },
  });
  expect(status).toBe(401);
});
