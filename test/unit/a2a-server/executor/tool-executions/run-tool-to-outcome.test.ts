import { describe, expect, test } from '@jest/globals';
import { runToolToOutcome } from '../../../../../a2a-server/executor/tool-executions/run-tool-to-outcome.ts';
import type { AbortCause } from '../../../../../a2a-server/executor/abort-scopes/abort-cause.ts';
import { ToolStoppedError } from '../../../../../a2a-server/tools/tool.ts';
import { AbortScope } from '../../../../../shared/runtime/abort.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

const STOP: AbortCause = { reason: 'abort-request', message: 'Aborted on request: enough' };

describe('a tool that does not confirm its stop', () => {
  test('A2 within the grace period the outcome has the tool’s own reason', async () => {
    const scope = new AbortScope<AbortCause>();
    const reasons: string[] = [];
    const outcome = runToolToOutcome(
      async () => {
        scope.abort(STOP);
        throw new ToolStoppedError('The server may have finished it.', { text: '', confirmed: false });
      },
      {
        scope,
        clock: new FakeClock(),
        graceMs: 5_000,
        soFar: () => '',
        onUnconfirmed: (why) => reasons.push(why),
      },
    );
    expect(await outcome).toMatchObject({ type: 'stopped', confirmed: false });
    expect(reasons).toEqual(['The server may have finished it.']);
  });

  test('A2 after the grace period the outcome names the length of that period', async () => {
    const scope = new AbortScope<AbortCause>();
    const clock = new FakeClock();
    const reasons: string[] = [];
    const outcome = runToolToOutcome(() => new Promise(() => undefined), {
      scope,
      clock,
      graceMs: 5_000,
      soFar: () => '',
      onUnconfirmed: (why) => reasons.push(why),
    });
    scope.abort(STOP);
    clock.advance(5_000);
    expect(await outcome).toMatchObject({ type: 'stopped', confirmed: false });
    expect(reasons).toEqual(['The tool did not end within 5000 ms. It may still run.']);
  });
});
