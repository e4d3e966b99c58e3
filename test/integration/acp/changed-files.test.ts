/** Tests an ACP agent that asks to change files. The person decides on the change to the current file on disk. */
import { describe, expect, it } from '@jest/globals';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { agentProgram } from '../../support/acp-agent/agent-program.ts';
import { type ToolCallStep } from '../../support/acp-agent/step.ts';
import type { Snapshot } from '../../../a2a-server/task/snapshot.ts';
import { pendingOf, startAcp } from './acp-service.ts';

/** Starts a task that waits for permission for one call on `notes.md`. */
async function asks(content: string | undefined, call: (path: string) => Partial<ToolCallStep>) {
  const agent = await agentProgram();
  const acp = await startAcp(agent);
  const path = join(acp.workspace, 'notes.md');
  if (content !== undefined) await writeFile(path, content);
  const step: ToolCallStep = { id: 'e', kind: 'edit', title: 'Edit notes.md', ...call(path) };
  const parked = await acp.play({ ask: [step] });
  const approve = (saw = parked): Promise<Snapshot> => acp.decide(saw);
  return { acp, agent, path, parked, approve, text: () => readFile(path, 'utf8') };
}

function shown(task: Snapshot): string {
  const [action] = pendingOf(task);
  if (action?.preview.type !== 'diff') throw new Error(`no diff: ${JSON.stringify(action)}`);
  return action.preview.diff;
}

describe('a file that changes after the server showed its diff', () => {
  it('R11 R98 if the file changes after the question, the agent asks again and shows the diff against the current file', async () => {
    const task = await asks('one\n', (path) => ({
      diff: { path, oldText: 'one\n', newText: 'two\n' },
      writes: 'file',
    }));
    expect(pendingOf(task.parked)).toMatchObject([
      { tool: 'edit', sideEffect: 'files', preview: { path: 'notes.md' } },
    ]);
    expect(shown(task.parked)).toBe('--- a/notes.md\n+++ b/notes.md\n@@ -1,1 +1,1 @@\n-one\n+two\n');
    await writeFile(task.path, 'three\n');
    const again = await task.approve();
    expect(pendingOf(again)).toMatchObject([{ reason: 'content-changed' }]);
    expect(shown(again)).toBe(
      "# The agent's change does not start from the current content of notes.md. This diff does.\n" +
        '--- a/notes.md\n+++ b/notes.md\n@@ -1,1 +1,1 @@\n-three\n+two\n',
    );
    expect([await task.text(), await task.agent.answers()]).toEqual(['three\n', []]);
    const done = await task.approve(again);
    expect([done.status.state, await task.text()]).toEqual(['completed', 'two\n']);
  });

  it('R98 if somebody adds lines to the file, the new diff shows which of those lines the change removes', async () => {
    const task = await asks('one\n', (path) => ({ diff: { path, oldText: 'one\n', newText: 'two\n' } }));
    await writeFile(task.path, 'one\nadded\n');
    const diff = shown(await task.approve());
    expect(diff).toContain('-one\n-added\n+two\n');
    expect(diff).toContain('# The agent gives only a part of notes.md');
    expect(await task.text()).toBe('one\nadded\n');
  });

  it('R98 if somebody deletes or creates the file after the question, the agent asks again', async () => {
    const gone = await asks('one\n', (path) => ({ diff: { path, oldText: 'one\n', newText: 'two\n' } }));
    await rm(gone.path);
    expect(shown(await gone.approve())).toContain(
      '# The agent says that it changes notes.md, but there is no such',
    );
    const made = await asks(undefined, (path) => ({ diff: { path, oldText: null, newText: 'two\n' } }));
    expect(shown(made.parked)).toContain('--- /dev/null\n');
    await writeFile(made.path, 'mine\n');
    expect(shown(await made.approve())).toContain('-mine\n+two\n');
    expect(await made.text()).toBe('mine\n');
  });

  it('R98 if the file changes and the call replaces only a part of it, the agent asks again', async () => {
    const task = await asks('a\nb\nc\n', (path) => ({
      diff: { path, oldText: 'b', newText: 'B' },
      rawInput: { file_path: path, old_string: 'b', new_string: 'B' },
      writes: 'part',
    }));
    expect(shown(task.parked)).toContain(' a\n-b\n+B\n c\n');
    await writeFile(task.path, 'a\nb\nc\nd\n');
    const again = await task.approve();
    expect(shown(again)).toContain(' a\n-b\n+B\n c\n d\n');
    const done = await task.approve(again);
    expect([done.status.state, await task.text()]).toEqual(['completed', 'a\nB\nc\nd\n']);
  });

  it.each(['edit', 'delete'] as const)(
    'R98 if the file changes and the call names it without a diff, the agent asks again (%s)',
    async (kind) => {
      const task = await asks('one\n', (path) => ({ kind, title: 'Change notes.md', locations: [path] }));
      await writeFile(task.path, 'two\n');
      const again = await task.approve();
      expect(pendingOf(again)).toMatchObject([{ reason: 'content-changed' }]);
      expect(await task.agent.answers()).toEqual([]);
      expect((await task.approve(again)).status.state).toBe('completed');
    },
  );
});

describe('the diff in a permission request', () => {
  it('the diff in a permission request says that a file exists, even if the agent calls the file new', async () => {
    const task = await asks('mine\n', (path) => ({ diff: { path, oldText: null, newText: 'two\n' } }));
    expect(shown(task.parked)).toBe(
      '# The agent says that notes.md is a new file, but it exists. The change replaces all of it.\n' +
        '--- a/notes.md\n+++ b/notes.md\n@@ -1,1 +1,1 @@\n-mine\n+two\n',
    );
  });

  it('the diff in a permission request is the agent’s own diff if the file is outside the workspace, and a note says so', async () => {
    const task = await asks(undefined, () => ({
      diff: { path: '/etc/motd', oldText: null, newText: 'hi\n' },
    }));
    expect(shown(task.parked)).toContain(
      "# /etc/motd cannot be read as text in the workspace. This diff is the agent's own.\n",
    );
  });
});
