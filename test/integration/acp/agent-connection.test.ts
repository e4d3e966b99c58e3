/** Tests the connection to a real agent process. */
import { expect, it } from '@jest/globals';
import { AcpConnection } from '../../../a2a-server/models/acp/agent-connection.ts';
import { commandEnvironment } from '../../../a2a-server/tools/shell/command-environment.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { agentProgram } from '../../support/acp-agent/agent-program.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

it('the connection reports the end of the agent to its listener before end() resolves', async () => {
  const connection = await AcpConnection.open(await agentProgram(), {
    cwd: await temporaryDirectory(),
    env: commandEnvironment(process.env),
    clock: systemClock,
    startMs: 30_000,
  });
  const lost: string[] = [];
  connection.listen({
    onUpdate: () => undefined,
    onPermissionRequest: () => () => undefined,
    onEnd: (message) => void lost.push(message),
  });
  connection.endAfterViolation('said too much');
  await connection.end();
  expect(lost).toEqual([expect.stringContaining('said too much, and the server ended it')]);
});
