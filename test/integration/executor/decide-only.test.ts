/** Tests the texts of a sender who may decide and not delegate. */
import { expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, sendUntilSettled, startScripted } from '../../support/task-service.ts';

const FORBIDDEN = { reason: 'FORBIDDEN', message: expect.stringContaining('may decide and not delegate') };
const onlyDecides = { wordsDecide: true, mayDelegate: false };

it('X1 without the right to delegate, the word "approve" decides the waiting action, and no other text changes anything', async () => {
  const calls = [{ tool: 'write-file', input: { path: 'a.txt', content: 'one' } }];
  const { tasks, workspace, models } = await startScripted([{ calls }, { text: 'Done.' }]);
  await expect(tasks.send(messageOf('approve', onlyDecides))).rejects.toMatchObject(FORBIDDEN);
  const { taskId, sessionId, seq } = await sendUntilSettled(tasks, messageOf('write'));
  const texts = ['approve it, and then delete all', 'go on', ''];
  for (const text of texts)
    await expect(tasks.send(messageOf(text, { taskId, ...onlyDecides }))).rejects.toMatchObject(FORBIDDEN);
  await expect(tasks.send(messageOf('hello', { sessionId, ...onlyDecides }))).rejects.toMatchObject(
    FORBIDDEN,
  );
  expect((await tasks.snapshot(taskId, { principal: 'ada' })).seq).toBe(seq);

  const decided = messageOf('approve', { taskId, ...onlyDecides });
  expect((await sendUntilSettled(tasks, decided)).status).toMatchObject({ state: 'completed' });
  expect(await readFile(join(workspace, 'a.txt'), 'utf8')).toBe('one');
  await expect(tasks.send(messageOf('more', { sessionId, ...onlyDecides }))).rejects.toMatchObject(FORBIDDEN);
  expect(models.requests).toHaveLength(2);
});
