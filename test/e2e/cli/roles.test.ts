/** Tests the command line of a person whose token may not decide, with a real server. */
import { describe, expect, it } from '@jest/globals';
import { actionOf, decisionOn } from '../../support/a2a-message.ts';
import { delegatorStage, type DelegatorStage, NEEDS_ROLE } from '../../support/delegator-stage.ts';
import { askPerson, plan, write } from '../../support/offline-plan.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { cli, cliAtTerminal, type CliOptions } from './support/cli.ts';

const TASK = plan(write('a.txt', 'x'), { say: 'Done.' });
const NO_COMMAND = /mcp-a2a-bridge (approve|deny|edit|answer)|\[y\/n\]|\[n\]/i;

async function commandLine({ on, delegator }: DelegatorStage): Promise<CliOptions> {
  const { url } = on.server;
  const env = { MCP_A2A_BRIDGE_AGENT_URL: url, MCP_A2A_BRIDGE_AGENT_TOKEN: delegator.token };
  return { home: await temporaryDirectory(), env };
}

describe('the command line with a token that may only delegate', () => {
  it('R122 says which role must decide, and asks for no decision', async () => {
    const people = await delegatorStage();
    const at = await commandLine(people);
    const { sessionId, taskId, pending } = await people.delegator.peer.send(TASK);
    const { shown } = actionOf(pending);

    const { stdout } = await cli(['show', shown], at);
    expect(stdout).toContain(`\n${NEEDS_ROLE}\n`);
    expect(stdout).toContain('You can only wait, or cancel the task.');
    expect(stdout).not.toMatch(NO_COMMAND);

    for (const word of ['approve', 'deny']) {
      const asked = await cliAtTerminal([word, sessionId], { ...at, keys: 'y\n' });
      expect(asked).toMatchObject({
        code: 4,
        stdout: expect.stringContaining(`${NEEDS_ROLE} Nothing was decided.`),
      });
      expect(asked.stdout).not.toMatch(/\[y\/N\]|Or decide in a browser/);
    }
    expect(await cli(['edit', shown, '--file', '-'], { ...at, stdin: 'y' })).toMatchObject({
      code: 4,
      stderr: expect.stringContaining(NEEDS_ROLE),
    });
    expect(await cli(['approve', shown], at)).toMatchObject({
      code: 77,
      stderr: expect.stringContaining('needs the role approve'),
    });

    const stream = await people.approver.peer.decide(taskId, [decisionOn(pending, 'approve')]);
    await stream.rest();
    expect(await people.on.file('a.txt')).toBe('x');
  });

  it('R122 run at a terminal shows the action, and does not ask about it', async () => {
    const people = await delegatorStage();
    const at = await commandLine(people);
    const workspace = people.on.server.workspace;
    const { stdout } = await cliAtTerminal(['run', '--workspace', workspace, TASK], { ...at, keys: 'y\n' });
    expect(stdout).toContain(NEEDS_ROLE);
    expect(stdout).toContain('The task waits. Follow it with');
    expect(stdout).not.toMatch(NO_COMMAND);
  });

  it('R122 a question of the agent is not asked either', async () => {
    const people = await delegatorStage();
    const at = await commandLine(people);
    const { sessionId, pending } = await people.delegator.peer.send(
      plan(askPerson('Which colour?', ['red', 'blue']), { say: 'Done.' }),
    );
    const { stdout } = await cli(['show', sessionId], at);
    expect(stdout).toContain('Which colour?');
    expect(stdout).toContain(NEEDS_ROLE);
    expect(stdout).not.toMatch(NO_COMMAND);
    expect(await cli(['answer', actionOf(pending).shown, 'red'], at)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining(NEEDS_ROLE),
    });
  });
});
