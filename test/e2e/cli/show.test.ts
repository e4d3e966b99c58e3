/** Prints the full pending action at a terminal, with the real command line and server. */
import { describe, expect, it } from '@jest/globals';
import { HOSTILE_COMMAND, HOSTILE_SHOWN } from '../../support/hostile-text.ts';
import { plan, shell } from '../../support/offline-plan.ts';
import { cliStage } from './support/cli-stage.ts';

describe('show', () => {
  it('R93 prints the whole pending input of a session or a call, and hides nothing', async () => {
    const on = await cliStage();
    const command = `${HOSTILE_COMMAND}\necho ${'x'.repeat(4_000)}`;
    const asked = await on.peer.send(plan(shell(command)));
    expect(asked.pending).toHaveLength(1);
    const callId = asked.pending[0]?.callId ?? '';
    for (const given of [asked.sessionId, callId]) {
      const { code, stdout } = await on.run('show', given);
      expect(code).toBe(0);
      expect(stdout).toContain(HOSTILE_SHOWN);
      expect(stdout).toContain(`│ echo ${'x'.repeat(4_000)}\n(in ${on.server.workspace})\n`);
      expect(stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      expect(stdout.split('\n').filter((line) => line.startsWith('(in '))).toHaveLength(1);
    }
    expect(await on.json('show', callId)).toMatchObject({
      sessionId: asked.sessionId,
      pending: [{ callId, cut: 0, preview: expect.stringContaining(HOSTILE_SHOWN) }],
    });
    const both = plan({ together: [shell('echo one'), shell('echo two')] });
    const { sessionId } = await on.peer.send(both);
    const { stdout } = await on.run('show', sessionId);
    expect(stdout.match(/Decide with: mcp-a2a-bridge approve [0-9a-f]{8}/g)).toHaveLength(2);
    const unknown = await on.run('show', 'call-that-is-not-there');
    expect(unknown.code).not.toBe(0);
  });
});
