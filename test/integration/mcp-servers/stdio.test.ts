/** Tests MCP servers that run as programs over stdio. */
import { describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { peerProgram, peerSettings } from '../../support/mcp-peer/peer-process.ts';
import { isDown, isReady, mcpStage, readyPeer } from '../../support/mcp-peer/mcp-stage.ts';
import { runningProcesses } from '../../support/process-group.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { PEER_TOOLS } from '../../support/mcp-peer/session.ts';

/**
 * Returns the settings of a server that starts another program. That program keeps running, and the server prints
 * its pid.
 */
async function withChild(): Promise<Record<string, unknown>> {
  const program = await peerProgram();
  return {
    command: 'sh',
    args: ['-c', `sleep 90 & "${process.execPath}" "${program}" stdio; wait`],
  };
}

function pidIn(answer: string): number {
  return Number(/\(pid (\d+)\)/.exec(answer)?.[1]);
}

describe('an MCP server that is a program at stdio', () => {
  it('R82 a program that exits is started again, and the error contains the program’s last output', async () => {
    const stage = await readyPeer('stdio');
    const first = pidIn(await stage.call('note'));
    await expect(stage.call('exit')).rejects.toThrow(
      /was lost while exit ran: exited with code 3; last line on stderr: out of memory, or so/,
    );
    expect(pidIn(await stage.call('note'))).not.toBe(first);
  });

  it('R83 a program ends with all processes that it has started when the client closes it', async () => {
    const stage = await mcpStage({ peer: await withChild() });
    await stage.status(isReady);
    const pid = pidIn(await stage.call('note'));
    const group = await groupOf(pid);
    expect(await runningProcesses(group)).toBe(3);
    await stage.close();
    expect(await runningProcesses(group)).toBe(0);
  });

  it('a program gets only harmless environment variables and its configured ones', async () => {
    process.env['MCP_TEST_SECRET'] = 'hush';
    const directory = await temporaryDirectory();
    const file = join(directory, 'environment');
    const script = `env > '${file}'; exec "${process.execPath}" "${await peerProgram()}" stdio`;
    const stage = await mcpStage({
      peer: { command: 'sh', args: ['-c', script], env: { GIVEN: 'yes' }, cwd: directory },
    });
    await stage.status(isReady);
    const { readFile } = await import('node:fs/promises');
    const seen = await readFile(file, 'utf8');
    expect(seen).toMatch(/^GIVEN=yes$/m);
    expect(seen).toMatch(/^PATH=/m);
    expect(seen).not.toContain('hush');
    delete process.env['MCP_TEST_SECRET'];
  });

  it('the stderr of a program is in the log, under its name', async () => {
    const stage = await readyPeer('stdio');
    expect(stage.log.filter((line) => line.includes('peer: hello'))).toEqual([
      expect.stringContaining('"mcpServer":"peer"'),
    ]);
  });

  it('X3 a program that prints a few invalid lines before its first message still works', async () => {
    const stage = await readyPeer('stdio', { fault: 'rubbish' });
    expect(await stage.call('note', { text: 'hello' })).toMatch(/hello/);
    expect(stage.log.join('')).toMatch(/printed a line on stdout that is not a JSON-RPC message/);
  });

  it.each([
    [
      'rubbish-only',
      /^printed too many lines on stdout that are not JSON-RPC messages; printed a line on stdout .*: Welcome to the peer!/,
    ],
    ['exits', /^exited with code 4; last line on stderr: no licence found$/],
    ['long-line', /^sent a line of more than 16 MiB/],
    ['no-tools', /^it offers no tools$/],
  ] as const)(
    'X3 a program with the fault "%s" has a status that names the fault, and other servers continue to work',
    async (fault, why) => {
      // The long delay saves the starts of more processes with the fault.
      const limits = { firstMs: 4_000, mostMs: 4_000 };
      const bad = await peerSettings('stdio', { fault });
      const stage = await mcpStage({ bad, good: await peerSettings('stdio') }, limits);
      const { error } = await stage.status(({ error: known }) => known !== undefined, 'bad');
      expect(error).toMatch(why);
      await stage.status(isReady, 'good');
      expect(await stage.call('note', { text: 'fine' }, { server: 'good' })).toMatch(/fine/);
    },
  );

  it('X3 a program with unusable tools offers its other tools, and the status names the unusable ones', async () => {
    const stage = await mcpStage({ peer: await peerSettings('stdio', { fault: 'bad-tools' }) });
    const { error, tools } = await stage.status(isReady);
    expect(tools).toBe(PEER_TOOLS);
    expect(error?.split('; ')).toEqual([
      '"no-object" is omitted: its input schema does not have the type "object"',
      '"no-schema" is omitted: its input schema does not have the type "object"',
      expect.stringMatching(/^"dangling" is omitted: its input schema is not valid: /),
      expect.stringMatching(/^"huge" is omitted: its input schema has \d+ characters, more than 65536$/),
      'a tool without a usable name is omitted',
      'and 2 more problems',
    ]);
    expect(stage.servers.get('mcp__peer__look')?.description).toBe('The first of this name.');
  });

  it('X3 of a program with ten thousand tools the model gets some, and the status has the number of the others', async () => {
    const settings = await peerSettings('stdio', { fault: 'many-tools' });
    const wanted = { tools: { include: ['tool-1', 'tool-9999'] } };
    const stage = await mcpStage({ peer: settings, few: { ...settings, ...wanted } });
    expect(await stage.status(isReady)).toEqual({
      name: 'peer',
      state: 'ready',
      tools: 500,
      error: 'it has 10000 tools, and the limit is 500; choose some with "tools": {"include": […]}',
    });
    expect(await stage.status(isReady, 'few')).toEqual({ name: 'few', state: 'ready', tools: 2 });
  });

  it('X3 if a program does not exist, the status names it, and the client tries again', async () => {
    const stage = await mcpStage({ peer: { command: 'no-such-program-here' } });
    expect(await stage.status(isDown)).toMatchObject({
      error: 'could not start: there is no program no-such-program-here',
    });
  });
});

async function groupOf(pid: number): Promise<number> {
  const { execFile } = await import('node:child_process');
  const { promisify } = await import('node:util');
  const { stdout } = await promisify(execFile)('ps', ['-o', 'pgid=', '-p', String(pid)]);
  return Number(stdout);
}
