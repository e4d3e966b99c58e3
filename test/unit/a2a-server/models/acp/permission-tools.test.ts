import { beforeEach, describe, expect, it } from '@jest/globals';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LiveAcpAgents } from '../../../../../a2a-server/models/acp/live-agents.ts';
import {
  toPendingAcpPermission,
  type AcpPermissionInput,
} from '../../../../../a2a-server/models/acp/permission.ts';
import { createPermissionTools } from '../../../../../a2a-server/models/acp/permission-tools.ts';
import { resolveTargets } from '../../../../../a2a-server/policy/resolve-targets.ts';
import type { MatchCertainty } from '../../../../../a2a-server/policy/command-mention.ts';
import { systemClock } from '../../../../../shared/runtime/clock.ts';
import type { Preview } from '../../../../../shared/protocol/tool-approval.ts';
import { policyOf } from '../../../../support/judged-calls.ts';
import { toolInWorkspace, type ToolInWorkspace } from '../../tools/tool-in-workspace.ts';

let at: ToolInWorkspace;
beforeEach(async () => {
  at = await toolInWorkspace();
  await writeFile(join(at.root, 'notes.md'), 'old\n');
});

/** Returns the tools without an agent, because a preview needs no agent. */
function tools(): ReturnType<typeof createPermissionTools> {
  const limits = { startMs: 1_000, graceMs: 1_000, idleMs: null, gatherMs: 0 };
  const agent = { command: 'agent', args: [] };
  return createPermissionTools(new LiveAcpAgents({ agent, env: {}, clock: systemClock, ...limits }));
}

async function previewOf(kind: string, input: AcpPermissionInput): Promise<Preview> {
  const tool = tools().find(({ name }) => name === kind);
  if (tool === undefined) throw new Error(`no ${kind}`);
  return (await at.show(tool, input)).preview;
}

const diffs = [{ path: 'notes.md', oldText: 'old\n', newText: 'new\n' }];

const command = (rawInput: unknown): Promise<Preview> => previewOf('execute', { title: 'Run', rawInput });

describe('D5 the preview of a permission', () => {
  it('the preview of a command with a diff shows both', async () => {
    const rawInput = { command: 'rm -rf build', cwd: '/w' };
    const preview = await previewOf('execute', { title: 'Update notes', rawInput, diffs });
    expect(preview).toMatchObject({
      type: 'json',
      value: {
        input: rawInput,
        change: { files: ['notes.md'], diff: expect.arrayContaining(['-old', '+new']) },
      },
    });
  });

  it('the preview of a fetch with a diff shows both', async () => {
    const rawInput = { url: 'https://example.com/x' };
    expect(await previewOf('fetch', { title: 'Get', rawInput, diffs })).toMatchObject({
      type: 'json',
      value: { input: rawInput },
    });
  });

  it('the preview of an edit is its diff', async () => {
    const rawInput = { command: 'str_replace', path: 'notes.md' };
    expect(await previewOf('edit', { title: 'Edit', rawInput, diffs })).toMatchObject({
      type: 'diff',
      path: 'notes.md',
    });
  });

  it('the preview of a command shows its arguments, and everything that changes its effect', async () => {
    expect(await command({ command: 'bash', args: ['-c', 'rm -rf x'] })).toEqual({
      type: 'command',
      command: 'bash -c rm -rf x',
      cwd: at.root,
    });
    expect(await command({ command: 'make', env: { PATH: '/tmp/evil' } })).toMatchObject({
      type: 'json',
      value: { input: { command: 'make', env: { PATH: '/tmp/evil' } } },
    });
    expect(await command({ script: 'rm -rf x' })).toMatchObject({ value: { input: { script: 'rm -rf x' } } });
  });

  it('the preview of a command that appears only in the title shows the whole title', async () => {
    const title = `echo ${'x'.repeat(500)}; rm -rf x`;
    const { input } = toPendingAcpPermission(
      { toolCallId: 'a', title, kind: 'execute' },
      { options: [], answer: () => undefined },
      at.root,
    );
    expect(await previewOf('execute', input)).toEqual({ type: 'command', command: title, cwd: at.root });
    const tool = tools().find(({ name }) => name === 'execute');
    expect(tool?.title(input).length).toBeLessThanOrEqual(200);
  });
});

const run = (cwd: string) => ({ command: 'npm test', cwd });

async function matchOf(
  rule: Record<string, unknown>,
  kind: string,
  rawInput: unknown,
  more: Pick<AcpPermissionInput, 'paths'> = {},
): Promise<MatchCertainty | undefined> {
  const tool = tools().find(({ name }) => name === kind);
  if (tool === undefined) throw new Error(`no ${kind}`);
  const { sideEffect, source } = tool;
  const reach = await resolveTargets(
    tool,
    { title: 'Go on', rawInput, ...more },
    { workspace: at.workspace, signal: new AbortController().signal, acceptsEdits: true },
  );
  return policyOf(rule).rules[0]?.matches({ tool: kind, sideEffect, source, reach });
}

describe('the policy on a permission', () => {
  it('a deny rule finds the host of a fetch with more fields than the URL; an allow rule does not', async () => {
    const rawInput = { url: 'https://evil.example./x', prompt: 'Summarise.' };
    expect(await matchOf({ action: 'deny', host: 'evil.example' }, 'fetch', rawInput)).toBe('yes');
    expect(await matchOf({ action: 'allow', host: 'evil.example' }, 'fetch', rawInput)).toBe('no');
    const plain = { url: rawInput.url };
    expect(await matchOf({ action: 'allow', host: 'evil.example' }, 'fetch', plain)).toBe('yes');
  });

  it('an allow rule for a command does not allow it with fields that change its effect', async () => {
    const rawInput = { command: 'make', env: { PATH: '/tmp/evil' } };
    expect(await matchOf({ action: 'deny', command: 'make' }, 'execute', rawInput)).toBe('yes');
    expect(await matchOf({ action: 'allow', command: 'make' }, 'execute', rawInput)).toBe('no');
    expect(await matchOf({ action: 'allow', command: 'make' }, 'execute', { command: 'make' })).toBe('yes');
  });

  it('a rule about a directory finds a command that runs there', async () => {
    await mkdir(join(at.root, 'secrets', 'keys'), { recursive: true });
    await symlink('secrets', join(at.root, 'link'));
    for (const path of ['secrets', 'secrets/**', 'secrets/keys/**', 'SECRETS'])
      for (const cwd of ['secrets/keys', join(at.root, 'link/keys'), './x/../secrets/keys/'])
        expect([path, cwd, await matchOf({ action: 'deny', path }, 'execute', run(cwd))]).toEqual([
          path,
          cwd,
          'yes',
        ]);
    expect(await matchOf({ action: 'deny', path: 'secrets' }, 'other', run('secrets'))).toBe('yes');
    expect(await matchOf({ action: 'deny', path: 'secrets' }, 'execute', run('.'))).toBe('no');
    expect(await matchOf({ action: 'deny', path: '**' }, 'execute', run('.'))).toBe('no');
  });

  it('an allow rule for a command allows it only in the workspace, and only in the directories that it names', async () => {
    await mkdir(join(at.root, 'docs'));
    await symlink('/', join(at.root, 'out'));
    const allow = { action: 'allow', command: 'npm test' };
    const inDocs = { ...allow, path: ['docs', 'docs/**'] };
    for (const cwd of ['.', 'docs', at.root]) expect(await matchOf(allow, 'execute', run(cwd))).toBe('yes');
    for (const cwd of ['..', '/', '/tmp/evil', 'out', `${at.root}x`])
      expect([cwd, await matchOf(allow, 'execute', run(cwd))]).toEqual([cwd, 'no']);
    expect(await matchOf(inDocs, 'execute', run('docs'))).toBe('yes');
    expect(await matchOf(inDocs, 'execute', run('.'))).toBe('no');
  });

  it('D5 a directory that is not a text is shown, and no allow rule covers it', async () => {
    for (const cwd of [['/tmp/evil'], { path: '/tmp/evil' }, 5]) {
      const rawInput = { command: 'npm test', cwd };
      expect(await matchOf({ action: 'allow', command: 'npm test' }, 'execute', rawInput)).toBe('no');
      expect(await matchOf({ action: 'deny', command: 'npm test' }, 'execute', rawInput)).toBe('yes');
      expect(await command(rawInput)).toMatchObject({ type: 'json', value: { input: rawInput } });
    }
    const rawInput = { command: 'npm test', cwd: null };
    expect(await matchOf({ action: 'allow', command: 'npm test' }, 'execute', rawInput)).toBe('yes');
  });

  it('a deny rule finds a command whose arguments are not a list', async () => {
    for (const args of ['--force', { 0: '--force' }]) {
      const rawInput = { command: 'git push', args };
      expect(await matchOf({ action: 'deny', command: 'git push' }, 'execute', rawInput)).toBe('yes');
      expect(await matchOf({ action: 'allow', command: 'git push' }, 'execute', rawInput)).toBe('no');
    }
  });

  it('a rule about a file finds the deletion of a directory with that file', async () => {
    await mkdir(join(at.root, 'prod', 'keys'), { recursive: true });
    for (const kind of ['delete', 'move'])
      for (const path of ['prod/keys/**', '.env']) {
        const paths = { paths: ['prod'] };
        expect(await matchOf({ action: 'deny', path }, kind, undefined, paths)).toBe('yes');
        expect(await matchOf({ action: 'allow', path: ['prod', path] }, kind, undefined, paths)).toBe('no');
      }
  });

  it('an allow rule for files allows neither a command nor a fetch that names such a file', async () => {
    const rule = { action: 'allow', path: '*.md' };
    const paths = { paths: ['notes.md'] };
    expect(await matchOf(rule, 'edit', undefined, paths)).toBe('yes');
    expect(await matchOf(rule, 'execute', { command: 'rm -rf x' }, paths)).toBe('no');
    expect(await matchOf(rule, 'execute', { command: 'rm', cwd: 'notes.md' })).toBe('no');
    expect(await matchOf(rule, 'fetch', { url: 'https://example.com/' }, paths)).toBe('no');
    expect(await matchOf(rule, 'other', { script: 'rm' }, paths)).toBe('no');
    expect(await matchOf(rule, 'switch_mode', undefined, paths)).toBe('no');
    expect(await matchOf({ ...rule, command: 'rm -rf x' }, 'execute', { command: 'rm -rf x' }, paths)).toBe(
      'yes',
    );
  });

  it('a deny rule finds the command of a permission that the agent does not call a command', async () => {
    const rawInput = { command: 'git push' };
    expect(await matchOf({ action: 'deny', command: 'git push' }, 'other', rawInput)).toBe('yes');
    expect(await matchOf({ action: 'allow', command: 'git push' }, 'other', rawInput)).toBe('no');
  });
});
