import { describe, expect, it, jest } from '@jest/globals';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { NO_RESOLVED_TARGETS } from '../../../../a2a-server/policy/call-facts.ts';
import { resolveTargets } from '../../../../a2a-server/policy/resolve-targets.ts';
import { changesRunLaterFile } from '../../../../a2a-server/policy/run-later-files.ts';
import { builtinTools } from '../../../../a2a-server/tools/builtin/builtin-tools.ts';
import { openWorkspace, type Workspace } from '../../../../a2a-server/tools/workspace/workspace.ts';
import { policyOf } from '../../../support/judged-calls.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

function tool(name: string) {
  const found = builtinTools().find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no tool ${name}`);
  return found;
}

const inMode = (workspace: Workspace, acceptsEdits = true, { signal } = new AbortController()) => ({
  workspace,
  signal,
  acceptsEdits,
});

describe('resolveTargets, the paths and hosts that a call uses', () => {
  it('resolveTargets returns the written and the resolved path, relative to the workspace', async () => {
    const root = await temporaryDirectory();
    await mkdir(join(root, 'real'));
    await writeFile(join(root, 'real', 'a.txt'), 'x');
    await symlink('real', join(root, 'link'));
    const workspace = await openWorkspace(root);
    const written = join(workspace.root, 'x', '..', 'link', 'a.txt');
    const { paths } = await resolveTargets(tool('read-file'), { path: written }, inMode(workspace));
    expect(paths).toEqual([{ written: 'link/a.txt', leadsTo: 'real/a.txt' }]);
    const outside = await resolveTargets(tool('read-file'), { path: '../x' }, inMode(workspace));
    expect(outside.paths).toEqual([{ written: '../x', leadsTo: undefined }]);
    const deleted = await resolveTargets(
      tool('delete-file'),
      { path: 'real', recursive: true },
      inMode(workspace),
    );
    expect(deleted).toMatchObject({ paths: [], trees: [{ leadsTo: 'real' }] });
  });

  it('resolveTargets returns the link itself for a tool that changes the link and not its target', async () => {
    const root = await temporaryDirectory();
    for (const name of ['docs', 'src', 'real']) await mkdir(join(root, name));
    await writeFile(join(root, 'docs', 'a.txt'), 'x');
    await symlink('../docs/a.txt', join(root, 'real', 'a.txt'));
    await symlink('real', join(root, 'link'));
    const workspace = await openWorkspace(root);
    const { paths } = await resolveTargets(tool('delete-file'), { path: 'link/a.txt' }, inMode(workspace));
    expect(paths).toEqual([
      { written: 'link/a.txt', leadsTo: 'docs/a.txt' },
      { written: 'link/a.txt', leadsTo: 'real/a.txt' },
    ]);
    const call = {
      tool: 'delete-file',
      source: { type: 'built-in' as const },
      sideEffect: 'files' as const,
      reach: { ...NO_RESOLVED_TARGETS, paths },
    };
    const [rule] = policyOf({ action: 'allow', path: 'docs/**' }).rules;
    expect(rule?.matches(call)).toBe('no');
    const moved = await resolveTargets(
      tool('move-file'),
      { path: 'link/a.txt', to: 'src/b' },
      inMode(workspace),
    );
    expect(moved.paths.map(({ leadsTo }) => leadsTo)).toEqual(['src/b', 'docs/a.txt', 'real/a.txt']);
  });

  it('resolveTargets finds a repository by its HEAD, and a file that runs later in a deleted directory', async () => {
    const root = await temporaryDirectory();
    await mkdir(join(root, 'mirror', 'hooks'), { recursive: true });
    await symlink('refs/heads/main', join(root, 'mirror', 'HEAD'));
    await symlink('../plain', join(root, 'mirror', 'link'));
    await mkdir(join(root, 'sub', 'deep', '.git'), { recursive: true });
    await mkdir(join(root, 'plain', 'deep'), { recursive: true });
    const workspace = await openWorkspace(root);
    const runsLater = async (name: string, input: Record<string, unknown>): Promise<boolean> =>
      changesRunLaterFile(await resolveTargets(tool(name), input, inMode(workspace)));
    for (const path of ['mirror/config', 'mirror/hooks/post-checkout', 'mirror/new/a'])
      expect(await runsLater('write-file', { path, content: '' })).toBe(true);
    expect(await runsLater('delete-file', { path: 'sub', recursive: true })).toBe(true);
    expect(await runsLater('delete-file', { path: 'mirror/link' })).toBe(true);
    expect(await runsLater('move-file', { path: 'mirror/link', to: 'moved' })).toBe(true);
    expect(await runsLater('write-file', { path: 'sub/mirror', content: '' })).toBe(false);
    for (const path of ['plain', 'gone'])
      expect(await runsLater('delete-file', { path, recursive: true })).toBe(false);
  });

  it('resolveTargets reads a tree only for the mode accept-edits, and stops when the call is aborted', async () => {
    const root = await temporaryDirectory();
    await mkdir(join(root, 'plain'));
    const workspace = await openWorkspace(root);
    const survey = jest.spyOn(workspace, 'survey');
    const deleted = (...more: [boolean, AbortController?]) =>
      resolveTargets(tool('delete-file'), { path: 'plain', recursive: true }, inMode(workspace, ...more));
    await deleted(false);
    expect(survey).not.toHaveBeenCalled();
    const aborted = new AbortController();
    aborted.abort();
    await expect(deleted(true, aborted)).rejects.toThrow('aborted');
  });

  it.each(['https://Example.COM:8443/x', 'http://example.com./', 'https://ex%61mple.com/'])(
    'resolveTargets returns the host of %s',
    async (url) => {
      const workspace = await openWorkspace(await temporaryDirectory());
      expect(await resolveTargets(tool('fetch'), { url }, inMode(workspace))).toMatchObject({
        hosts: ['example.com'],
      });
    },
  );

  it('every tool with a path, a command or a URL declares how to find it in the input', () => {
    for (const each of builtinTools()) {
      const { properties = {} } = z.toJSONSchema(each.schema, { io: 'input' });
      const named = Object.keys(properties).some((key) => /path|command|url|^from$|^to$/iu.test(key));
      expect({ tool: each.name, reach: each.reach !== undefined }).toEqual({ tool: each.name, reach: named });
    }
  });
});
