/** Tests a message with settings to a task that has not ended. */
import { describe, expect, it } from '@jest/globals';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { TaskSettings } from '../../../shared/protocol/tool-approval.ts';
import { ADA, messageOf, startScripted, sendUntilSettled } from '../../support/task-service.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** The call waits for a decision, so its task stays in "input-required". */
const CALL = { tool: 'write-file', input: { path: 'a.txt', content: 'x' } };

/** Starts a task that runs until the test ends. */
async function underWay(settings: TaskSettings) {
  const { tasks } = await startScripted([{ text: 'Thinking.', until: new Promise(() => undefined) }]);
  const { taskId, sessionId } = await tasks.send(messageOf('go', { settings }));
  return { tasks, taskId, sessionId };
}

describe('a message to a task that has not ended', () => {
  it.each([{ readOnly: true }, { autoExecute: true }, { model: 'fast' }])(
    'a message with other settings (%j) is refused, and changes nothing',
    async (settings) => {
      const { tasks, taskId, sessionId } = await underWay({});
      await expect(tasks.send(messageOf('more', { sessionId, settings }))).rejects.toMatchObject({
        reason: 'MALFORMED',
        facts: { settings: Object.keys(settings)[0] },
      });
      expect(JSON.stringify(await tasks.snapshot(taskId, { principal: ADA }))).not.toContain('"more"');
    },
  );

  it('a decision message counts only as a decision, even if the client sends settings with every message', async () => {
    const { tasks } = await startScripted([{ calls: [CALL] }]);
    const { taskId } = await sendUntilSettled(tasks, messageOf('go'));
    const settings = { autoExecute: true };
    await expect(tasks.send(messageOf('more', { taskId, settings }))).rejects.toMatchObject({
      reason: 'DECISION_NEEDED',
    });
    expect(await tasks.send(messageOf('approve', { taskId, settings, wordsDecide: true }))).toMatchObject({
      taskId,
    });
  });

  it('a message that names another workspace is refused; a link to the same workspace is accepted', async () => {
    const workspace = await temporaryDirectory();
    const { tasks, sessionId } = await underWay({ workspace });
    const elsewhere = { sessionId, settings: { workspace: await temporaryDirectory() } };
    await expect(tasks.send(messageOf('more', elsewhere))).rejects.toMatchObject({ reason: 'MALFORMED' });
    const link = join(await temporaryDirectory(), 'link');
    await symlink(workspace, link);
    const same = { sessionId, settings: { workspace: link, autoExecute: false, readOnly: false } };
    expect(await tasks.send(messageOf('more', same))).toMatchObject({ sessionId });
  });
});
