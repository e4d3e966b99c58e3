/** Tests what a person sees when a program ends because of an error that no code catches. */
import { expect, it } from '@jest/globals';
import { cliRunning } from './cli/support/cli.ts';
import { cliStage } from './cli/support/cli-stage.ts';
import { launchServer, newServerHome } from '../support/server-program.ts';

/** Throws an error in the program at this signal. */
const THROWS = {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(
    "process.on('SIGUSR2', () => { throw new Error('boom'); });",
  )}`,
};

it('a command says in one line what happened, and shows the stack trace if the person asks for it', async () => {
  const on = await cliStage();
  const { sessionId } = await on.peer.send('append "x" to a.txt');
  const endOf = async (env: Readonly<Record<string, string>>) => {
    const watch = cliRunning(['watch', sessionId], { ...on.at, env: { ...on.at.env, ...THROWS, ...env } });
    await watch.line('input-required');
    watch.child.kill('SIGUSR2');
    return watch.ended;
  };
  expect(await endOf({})).toMatchObject({
    code: 1,
    stderr:
      'mcp-a2a-bridge: An unexpected error has ended the program: boom. To see the stack trace, set MCP_A2A_BRIDGE_LOG_LEVEL=debug and try again.\n',
  });
  expect((await endOf({ MCP_A2A_BRIDGE_LOG_LEVEL: 'debug' })).stderr).toMatch(
    /"stack":"Error: boom\\n {4}at /,
  );
});

it('the server says in one line what happened, below the log line with the stack trace', async () => {
  const server = launchServer({ home: await newServerHome(), env: THROWS });
  await server.ready;
  process.kill(server.pid, 'SIGUSR2');
  expect(await server.ended()).toBe(1);
  expect(server.log()).toMatch(
    /"stack":"Error: boom\\n {4}at [^\n]*\na2a-server: An unexpected error has ended the program: boom\. The log has the stack trace\. The next start continues the tasks\.\n$/,
  );
});
