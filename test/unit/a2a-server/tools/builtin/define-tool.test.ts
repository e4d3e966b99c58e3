import { beforeEach, describe, expect, it } from '@jest/globals';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { defineTool } from '../../../../../a2a-server/tools/builtin/define-tool.ts';
import type { Tool, ToolRun } from '../../../../../a2a-server/tools/tool.ts';
import { toolInWorkspace, type ToolInWorkspace } from '../tool-in-workspace.ts';

let at: ToolInWorkspace;

beforeEach(async () => {
  at = await toolInWorkspace();
  for (const name of ['a', 'b', 'c']) {
    await mkdir(join(at.root, name));
    await writeFile(join(at.root, name, 'file'), name);
  }
});

/** Creates a tool that never checks its abort signal. */
function forgetful(work: (run: ToolRun) => Promise<unknown>): Tool {
  return defineTool({
    name: 'forgetful',
    description: '',
    sideEffect: 'files',
    schema: z.strictObject({}),
    timeoutMs: () => 1000,
    title: () => '',
    show: async (_input, { workspace }) => {
      await workspace.list('.');
      return { preview: { type: 'json', value: {} }, basis: null };
    },
    run: async (_input, run) => {
      await work(run);
      return { text: 'done', summary: 'done' };
    },
  });
}

describe('an abort of a tool that ignores its signal', () => {
  it.each<[string, (run: ToolRun) => Promise<unknown>]>([
    ['read', ({ workspace }) => workspace.read('a/file')],
    ['list', ({ workspace }) => workspace.list('a')],
    ['locate', ({ workspace }) => workspace.locate('a')],
    ['walk', ({ workspace, signal }) => walk(workspace, signal, () => Promise.resolve())],
    ['replace', ({ workspace, signal }) => workspace.replace('new', { content: 'x', basis: 'none', signal })],
  ])('A2 the tool stops at its next operation: %s', async (_, next) => {
    const controller = new AbortController();
    const seen: string[] = [];
    const tool = forgetful(async (run) => {
      await run.workspace.read('a/file');
      controller.abort();
      seen.push('aborted');
      await next(run);
      seen.push('went on');
    });
    await expect(at.run(tool, {}, { signal: controller.signal })).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect([seen, (await readdir(at.root)).toSorted()]).toEqual([['aborted'], ['a', 'b', 'c']]);
  });

  it('A2 an abort while the tool walks a directory stops it before the next directory or file', async () => {
    for (const what of ['directory', 'file'] as const) {
      const controller = new AbortController();
      let visited = 0;
      const tool = forgetful(({ workspace }) =>
        walk(workspace, new AbortController().signal, async (directory) => {
          visited += 1;
          controller.abort();
          if (what === 'file') await directory.read('file').catch(() => (visited += 10));
        }),
      );
      await expect(at.run(tool, {}, { signal: controller.signal })).rejects.toMatchObject({
        name: 'AbortError',
      });
      expect(visited).toBe(what === 'file' ? 11 : 1);
    }
  });

  it('A3 the result of an operation that had started is kept', async () => {
    const controller = new AbortController();
    const tool = forgetful(async ({ workspace, signal }) => {
      await workspace.replace('new', { content: 'x', basis: 'absent', signal }).catch(() => undefined);
      controller.abort();
    });
    expect(await at.run(tool, {}, { signal: controller.signal })).toMatchObject({ text: 'done' });
  });

  it('A2 after the abort the tool neither runs nor makes a preview', async () => {
    const controller = new AbortController();
    controller.abort();
    let ran = false;
    const tool = forgetful(async () => void (ran = true));
    const { signal } = controller;
    await expect(at.run(tool, {}, { signal })).rejects.toMatchObject({ name: 'AbortError' });
    await expect(tool.show({}, { principal: 'ada', workspace: at.workspace, signal })).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(ran).toBe(false);
  });
});

function walk(
  workspace: ToolRun['workspace'],
  signal: AbortSignal,
  visit: (directory: { read: (name: string) => Promise<unknown> }) => Promise<unknown>,
): Promise<void> {
  return workspace.walk('.', { signal, includeIgnored: true }, async (directory) => {
    await visit(directory);
    return 'go on';
  });
}
