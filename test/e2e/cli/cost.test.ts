/** Tests `cost`, with the real command line, a real server, and a provider that reports its tokens. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { costReportSchema, taskCostsSchema } from '../../../shared/protocol/cost-report.ts';
import type { Reply } from '../../support/fake-model-endpoint.ts';
import { NOON_DAY } from '../../support/noon-clock.ts';
import {
  PRICED_CALL,
  pricedAnswer,
  PRICED_MODEL,
  pricedServer,
  UNPRICED_MODEL,
} from '../../support/priced-model.ts';
import { stage, stageAgain } from '../../support/stage.ts';
import { cliStageOf, type CliStage } from './support/cli-stage.ts';

const costs = z.object({ costs: z.array(costReportSchema) });

async function start(server: object = {}): Promise<{ on: CliStage; script: (...replies: Reply[]) => void }> {
  const { options, script } = await pricedServer(server);
  return { on: cliStageOf(await stage(options)), script };
}

async function report(on: CliStage): Promise<z.infer<typeof costReportSchema>> {
  const [found] = costs.parse(await on.json('cost', '--days', '1')).costs;
  if (found === undefined) throw new Error('no agent reports costs');
  return found;
}

describe('the command cost', () => {
  it('cost sums tokens and dollars by day, session and model, and keeps the sums after a kill of the server', async () => {
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
    expect(days).toMatchObject([{ day: NOON_DAY, requests: 3 }]);
    expect(sessions.find((each) => each.sessionId === sessionId)).toMatchObject({
      title: 'first task',
      ...paid,
    });
    expect(sessions.find((each) => each.sessionId === other.sessionId)).toMatchObject(unpriced);
    expect(models.map(({ model }) => model)).toEqual([PRICED_MODEL, UNPRICED_MODEL]);

    const { code, stdout } = await again.run('cost', '--days', '1');
    expect(code).toBe(0);
    expect(stdout).toContain(`From ${NOON_DAY} to ${NOON_DAY} (UTC days):`);
    expect(stdout).toMatch(
      new RegExp(`^${sessionId.slice(0, 16)} .* 4400 +2000 +400 +200 +\\$1\\.11 +first task$`, 'm'),
    );
    expect(stdout).toContain(`The price of 1 request to ${UNPRICED_MODEL} is unknown.`);
    expect(stdout).toContain(`{"server":{"prices":{"${UNPRICED_MODEL}":{"input":3,"output":15}}}}`);

    const { stdout: shown } = await again.run('show', sessionId);
    expect(shown).toContain(
      'Cost: 1 turn, 1000 tokens in, 100 out, $0.4500. All tasks of the session: 4400 tokens in (2000 read from the cache, 400 written to the cache), 200 out, $1.11.',
    );
    const listed = z.object({
      sessions: z.array(z.object({ sessionId: z.string(), usd: z.number().nullable() })),
    });
    const { sessions: rows } = listed.parse(await again.json('tasks'));
    expect(rows.find((each) => each.sessionId === sessionId)?.usd).toBeCloseTo(1.11, 9);
    expect(rows.find((each) => each.sessionId === other.sessionId)?.usd).toBeNull();
  });

  it('the events and "show --turns" have the tokens and the cost of each turn, also after a kill of the server', async () => {
    const { on, script } = await start();
    script(PRICED_CALL, pricedAnswer('Nothing there.', { cacheReadTokens: 2_000 }));
    const { sessionId, taskId } = await on.peer.send('look around');
    await on.server.kill();
    const again = cliStageOf(await stageAgain(on));
    const costsSeen = (await again.peer.history(taskId)).flatMap(({ cost }) => cost ?? []);
    expect(costsSeen).toEqual([
      {
        turn: 1,
        inputTokens: 1_400,
        cachedInputTokens: 0,
        cacheWriteTokens: 400,
        outputTokens: 100,
        usd: expect.closeTo(0.6, 9),
      },
      {
        turn: 2,
        inputTokens: 3_000,
        cachedInputTokens: 2_000,
        cacheWriteTokens: 0,
        outputTokens: 100,
        usd: expect.closeTo(0.51, 9),
      },
    ]);
    const { stdout } = await again.run('show', sessionId, '--turns');
    expect(stdout.split('\n').slice(-4)).toEqual([
      'TURN  TOKENS IN  CACHE READ  CACHE WRITTEN  TOKENS OUT     COST  MODEL',
      `1          1400           0            400         100  $0.6000  ${PRICED_MODEL}`,
      `2          3000        2000              0         100  $0.5100  ${PRICED_MODEL}`,
      '',
    ]);
    const shown = z.object({ turns: taskCostsSchema.shape.requests });
    const { turns } = shown.parse(await again.json('show', sessionId, '--turns'));
    expect(turns).toEqual(
      costsSeen.map((cost) => ({ ...cost, at: expect.any(String), model: PRICED_MODEL })),
    );
  });

  it('cost shows the daily budget; if the budget is spent, the next task asks first, also after a restart', async () => {
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

  it('cost explains a wrong --days, and an agent without costs', async () => {
    const { on } = await start();
    for (const days of ['0', 'x', '1.5', '4000'])
      expect(await on.run('cost', '--days', days)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('--days needs a whole number from 1 to 3660.'),
      });
    expect((await on.run('cost')).stdout).toMatch(/^No requests to a model from \S+ to \S+ \(UTC days\)\.$/m);
  });
});
