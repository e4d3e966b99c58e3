/** Tests that an edit is valid only for the file content that the person saw, for every tool. */
import { describe, expect, it } from '@jest/globals';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pendingActions } from '../../../a2a-server/task/pending.ts';
import type { Snapshot } from '../../../a2a-server/task/snapshot.ts';
import {
  decisionMessage,
  messageOf,
  untilSettled,
  sendUntilSettled,
  startScripted,
} from '../../support/task-service.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const OLD = 'one\ntwo\n';
const THEIRS = 'one\ntwo\nand a line of somebody else\n';

interface FileTool {
  tool: string;
  input: Record<string, unknown>;
  /** The person's edit. */
  edited: Record<string, unknown>;
}

const change = { oldText: 'two', newText: 'three' };
const TOOLS: readonly FileTool[] = [
  {
    tool: 'write-file',
    input: { path: 'a.txt', content: 'x\n' },
    edited: { path: 'a.txt', content: 'mine\n' },
  },
  {
    tool: 'append-file',
    input: { path: 'a.txt', content: 'x\n' },
    edited: { path: 'a.txt', content: 'mine\n' },
  },
  {
    tool: 'edit-file',
    input: { path: 'a.txt', ...change },
    edited: { path: 'a.txt', ...change, newText: 'mine' },
  },
  {
    tool: 'multi-edit',
    input: { path: 'a.txt', edits: [change] },
    edited: { path: 'a.txt', edits: [{ ...change, newText: 'mine' }] },
  },
  { tool: 'move-file', input: { path: 'a.txt', to: 'b.txt' }, edited: { path: 'a.txt', to: 'c.txt' } },
  {
    tool: 'delete-file',
    input: { path: 'a.txt', recursive: true },
    edited: { path: 'a.txt', recursive: false },
  },
];

/** Starts a task that waits with one call on `a.txt`. */
async function waiting({ tool, input }: Pick<FileTool, 'tool' | 'input'>) {
  const workspace = await temporaryDirectory();
  await writeFile(join(workspace, 'a.txt'), OLD);
  const { tasks } = await startScripted([{ calls: [{ tool, input }] }], { workspace });
  const shown = await sendUntilSettled(tasks, messageOf('go'));
  const edits = (saw: Snapshot, edited: Record<string, unknown>) =>
    tasks.send(decisionMessage(saw, { decision: 'edit', input: edited }));
  const path = join(workspace, 'a.txt');
  return { tasks, shown, edits, path, names: async () => (await readdir(workspace)).toSorted() };
}

describe('an edit of a call whose file has changed since the question', () => {
  it.each(TOOLS)(
    'R90 $tool: the server refuses the edit and asks about the call again with the current file; the next edit runs',
    async (call) => {
      const { tasks, shown, edits, path, names } = await waiting(call);
      await writeFile(path, THEIRS);
      await expect(edits(shown, call.edited)).rejects.toMatchObject({ reason: 'INPUT_CHANGED' });
      expect([await readFile(path, 'utf8'), await names()]).toEqual([THEIRS, ['a.txt']]);

      const again = await tasks.snapshot(shown.taskId, { principal: shown.principal });
      expect(pendingActions(again)).toMatchObject([
        { reason: 'content-changed', decisions: ['approve', 'deny', 'edit'] },
      ]);
      expect(pendingActions(again)[0]?.shown).not.toBe(pendingActions(shown)[0]?.shown);
      const [{ preview } = { preview: { type: 'url', url: '' } as const }] = pendingActions(again);
      if (preview.type === 'diff') expect(preview.diff).toContain('and a line of somebody else');
      // The repeated decision has the code of the earlier question.
      await expect(edits(shown, call.edited)).rejects.toMatchObject({ reason: 'INPUT_CHANGED' });
      expect(await readFile(path, 'utf8')).toBe(THEIRS);

      const done = await untilSettled(tasks, await edits(again, call.edited));
      expect(done.status.state).toBe('completed');
      expect(Object.values(done.calls)).toMatchObject([{ state: { result: { outcome: { type: 'ok' } } } }]);
    },
  );

  it('R90 an edit that cannot be applied to the file any more is refused, and the call still waits', async () => {
    const input = { path: 'a.txt', ...change };
    const { shown, edits, path, tasks } = await waiting({ tool: 'edit-file', input });
    await writeFile(path, 'somebody else wrote all of it\n');
    await expect(edits(shown, { path: 'a.txt', ...change, oldText: 'all' })).rejects.toMatchObject({
      reason: 'INVALID_DECISION',
      message: expect.stringContaining('Deny it, and say in the reason what you want'),
    });
    await rm(path);
    await expect(edits(shown, { path: 'b.txt', ...change })).rejects.toMatchObject({
      reason: 'INVALID_DECISION',
    });
    expect(await tasks.snapshot(shown.taskId, { principal: shown.principal })).toEqual(shown);
  });

  it('R90 D2 an edit cannot change another file whose content the person has not seen', async () => {
    const input = { path: 'a.txt', content: 'x\n' };
    const { shown, edits, path } = await waiting({ tool: 'write-file', input });
    const other = `${path}.other`;
    await writeFile(other, THEIRS);
    await expect(edits(shown, { path: 'a.txt.other', content: 'mine\n' })).rejects.toMatchObject({
      reason: 'INVALID_DECISION',
      message: expect.stringContaining('content was not shown'),
    });
    expect(await readFile(other, 'utf8')).toBe(THEIRS);
    await edits(shown, { path: 'new.txt', content: 'mine\n' });
  });
});
