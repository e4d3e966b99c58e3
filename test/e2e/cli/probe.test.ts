/** Tests the command `probe`, with agents that listen on real sockets. */
import { describe, expect, it } from '@jest/globals';
import { TaskState } from '@a2a-js/sdk';
import type { AgentExecutor } from '@a2a-js/sdk/server';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { cleanUpLater } from '../../support/clean-up.ts';
import { hostileAgent } from '../../support/fake-agent-hostile.ts';
import { plainAgent } from '../../support/fake-agent-plain.ts';
import { plan, wait } from '../../support/offline-plan.ts';
import { slowSpeaker } from '../../support/slow-speaker.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { cli, cliAtTerminal } from './support/cli.ts';
import { cliStage } from './support/cli-stage.ts';
import { agentMessage } from '../../support/fake-agent-task.ts';

function stopping<A extends { stop: () => unknown }>(agent: A): A {
  cleanUpLater(() => agent.stop());
  return agent;
}

const failsAtOnce: AgentExecutor = {
  async execute({ taskId, contextId, userMessage }, bus) {
    const status = {
      state: TaskState.TASK_STATE_FAILED,
      timestamp: new Date().toISOString(),
      message: agentMessage('No model.\u{1b}[2J', { messageId: 'm-1', contextId, taskId }),
    };
    bus.publish({
      kind: 'task',
      data: { id: taskId, contextId, status, artifacts: [], history: [userMessage], metadata: undefined },
    });
    bus.finished();
  },
  cancelTask: async () => undefined,
};

const report = z.object({
  version: z.string(),
  messages: z.number(),
  rows: z.array(
    z.object({
      scenario: z.string(),
      sent: z.string().min(1),
      source: z.string().min(1),
      verdict: z.enum(['passed', 'failed', 'not supported']),
    }),
  ),
});

describe('the command probe', () => {
  it('our server passes each check that needs no restart, and its token is in no report', async () => {
    const { server, run: serve } = await cliStage();
    await serve('tasks');
    const token = await readFile(join(server.stateDir, 'token'), 'utf8');
    const text = plan({ say: 'One. ', repeat: 3 }, wait(0.1), { say: 'Two. ', repeat: 3 }, wait(0.1));
    const { code, stdout, stderr } = await cli(
      ['probe', server.url, '--token-variable', 'TEAM_TOKEN', '--text', text, '--yes', '--json'],
      { home: await temporaryDirectory(), env: { TEAM_TOKEN: token } },
    );
    expect(stderr).toBe('');
    const { rows, messages, version } = report.parse(JSON.parse(stdout));
    expect(rows.filter(({ verdict }) => verdict === 'failed')).toEqual([]);
    expect(rows.filter(({ verdict }) => verdict === 'passed')).toHaveLength(11);
    expect([code, version]).toEqual([0, '1.0']);
    expect(messages).toBeLessThanOrEqual(40);
    expect(stdout).not.toContain(token.trim());
  });

  it.each(['1.0', '0.3'] as const)(
    'the report about an agent of A2A %s that starts two tasks for one message says what was sent and expected',
    async (version) => {
      const agent = stopping(await plainAgent(version, { executor: slowSpeaker() }));
      const { code, stdout } = await cli(['probe', agent.url, '--yes', '--text', 'Speak.'], {
        home: await temporaryDirectory(),
      });
      expect(code).toBe(1);
      expect(stdout).toContain('This sends up to 40 messages');
      expect(stdout).toMatch(/\n {2}Sent: +SendMessage twice, one after the other, with one message id\n/);
      expect(stdout).toMatch(/\n {2}Expected: .*\(A2A 1\.0 §3\.3\.1 \(MAY\)\)\n {2}Received: +a second task/);
    },
  );

  it('without a terminal and --yes, or after a no, it sends no message', async () => {
    const agent = stopping(await plainAgent('1.0'));
    const home = await temporaryDirectory();
    expect(await cli(['probe', agent.url], { home })).toMatchObject({ code: 2 });
    expect(await cliAtTerminal(['probe', agent.url], { home, keys: 'n\n' })).toMatchObject({ code: 1 });
    expect(agent.received).toEqual([]);
  });

  it('an agent whose task fails, and one without a card, are reported in one sentence', async () => {
    const failing = stopping(await plainAgent('1.0', { executor: failsAtOnce }));
    const home = await temporaryDirectory();
    const fails = await cli(['probe', failing.url, '--yes'], { home });
    expect(fails).toMatchObject({ code: 69 });
    expect(fails.stderr).toContain('FAILED, not COMPLETED or INPUT_REQUIRED. The agent says: "No model.');
    expect(fails.stderr).not.toContain('\u{1b}');
    const none = stopping(
      await hostileAgent((_, response) => response.writeHead(404).end('\u{1b}[2J'), { card: true }),
    );
    const missing = await cli(['probe', none.url, '--yes'], { home });
    expect(missing).toMatchObject({ code: 69 });
    expect(missing.stderr).not.toContain('\u{1b}');
  });
});
