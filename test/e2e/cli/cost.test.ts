/** `cost`, with the real command line, a real server, and a provider that reports its tokens. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { costReportSchema } from '../../../shared/protocol/cost-report.ts';
import type { Reply } from '../../support/fake-model-endpoint.ts';
import { pricedAnswer, PRICED_MODEL, pricedServer, UNPRICED_MODEL } from '../../support/priced-model.ts';
import { stage, stageAgain } from '../../support/stage.ts';
import { cliStageOf, type CliStage } from './support/cli-stage.ts';

const costs = z.object({ costs: z.array(costReportSchema) });

async function start(server: object = {}): Promise<{ on: CliStage; script: (...replies: Reply[]) => void }> {
  const { options, script } = await pricedServer(server);
  return { on: cliStageOf(await stage(options)), script };
}

/** The report of today and yesterday, because a test may run over midnight UTC. */
async function report(on: CliStage): Promise<z.infer<typeof costReportSchema>> {
  const [found] = costs.parse(await on.json('cost', '--days', '2')).costs;
  if (found === undefined) throw new Error('no agent reports costs');
  return found;
}

describe('cost', () => {
  it('cost sums tokens and dollars by day, session and model, and keeps the sums across a kill of the server', async () => {
    const { on, script } = await start({ otherModel: [UNPRICED_MODEL] });
    script(
      pricedAnswer('One.', { cacheReadTokens: 2_000, cacheWriteTokens: 400 }),
      pricedAnswer('Two.'),
      pricedAnswer('Three.'),
    );
    const { sessionId } = await on.peer.send('first task');
    await on.server.kill();
    const again = cliStageOf(await stageAgain(on));
    await again.peer.send('second task', { sessionId });
    const other = await again.peer.send('another session', { settings: { model: UNPRICED_MODEL } });
    const { total, sessions, models, days } = await report(again);
    // The first request costs 0.3 + 0.06 + 0.15 + 0.15 US dollars, the second 0.3 + 0.15.
    const paid = {
      requests: 2,
      inputTokens: 4_400,
      cachedInputTokens: 2_000,
      cacheWriteTokens: 400,
      outputTokens: 200,
    };
    const unpriced = { requests: 1, inputTokens: 1_000, usd: null, unpricedRequests: 1 };
    expect(total).toMatchObject({ requests: 3, inputTokens: 5_400, usd: null, unpricedRequests: 1 });
    expect(total.knownUsd).toBeCloseTo(1.11, 9);
    expect(days.reduce((sum, day) => sum + day.requests, 0)).toBe(3);
    expect(sessions.find((each) => each.sessionId === sessionId)).toMatchObject({
      title: 'first task',
      ...paid,
    });
    expect(sessions.find((each) => each.sessionId === other.sessionId)).toMatchObject(unpriced);
    expect(models.map(({ model }) => model)).toEqual([PRICED_MODEL, UNPRICED_MODEL]);

    const { code, stdout } = await again.run('cost', '--days', '2');
    expect(code).toBe(0);
    expect(stdout).toContain('(UTC days):');
    expect(stdout).toMatch(
      new RegExp(`^${sessionId.slice(0, 16)} .* 4400 +2000 +400 +200 +\\$1\\.11 +first task$`, 'm'),
    );
    expect(stdout).toContain(`The price of 1 request to ${UNPRICED_MODEL} is unknown.`);
    expect(stdout).toContain(`{"server":{"prices":{"${UNPRICED_MODEL}":{"input":3,"output":15}}}}`);

    const { stdout: shown } = await again.run('show', sessionId);
    expect(shown).toContain(
      'Cost: 1 turns, 1000 tokens in, 100 out, $0.4500. All tasks of the session: 4400 tokens in (2000 read from the cache, 400 written to the cache), 200 out, $1.11.',
    );
    const listed = z.object({
      sessions: z.array(z.object({ sessionId: z.string(), usd: z.number().nullable() })),
    });
    const { sessions: rows } = listed.parse(await again.json('tasks'));
    expect(rows.find((each) => each.sessionId === sessionId)?.usd).toBeCloseTo(1.11, 9);
    expect(rows.find((each) => each.sessionId === other.sessionId)?.usd).toBeNull();
  });

  it('cost shows the budget per day; a spent budget asks before the next task, also after a restart', async () => {
    const { on, script } = await start({ budgetCostPerDay: 0.4 });
    script(pricedAnswer('One.'), pricedAnswer('Two.'));
    await on.peer.send('first task');
    await on.server.kill();
    const again = cliStageOf(await stageAgain(on));
    const asked = await again.peer.send('second task');
    expect([asked.state, asked.statusText]).toEqual([
      'INPUT_REQUIRED',
      expect.stringContaining('Your tasks have cost 0.45 US dollars today'),
    ]);
    const ended = await again.peer.send('go on', { taskId: asked.taskId });
    expect(ended.state).toBe('COMPLETED');
    const { dailyBudget } = await report(again);
    expect(dailyBudget?.limitUsd).toBeCloseTo(0.85, 9);
    expect((await again.run('cost')).stdout).toContain(
      'The budget per day is $0.4000, and a person allowed more',
    );
  });

  it('says what is wrong with --days, and what an agent without costs is', async () => {
    const { on } = await start();
    for (const days of ['0', 'x', '1.5', '4000'])
      expect(await on.run('cost', '--days', days)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('--days needs a whole number from 1 to 3660.'),
      });
    expect((await on.run('cost')).stdout).toMatch(/^No requests to a model from \S+ to \S+ \(UTC days\)\.$/m);
  });
});
