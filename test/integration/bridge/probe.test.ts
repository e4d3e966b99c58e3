/** Tests the probe with an agent whose tasks never complete: each waits for the next message. */
import { afterEach, expect, it } from '@jest/globals';
import { z } from 'zod';
import { readProbedInterface, runProbe } from '../../../bridge/probe/probe.ts';
import { probeReportText } from '../../../bridge/probe/report-text.ts';
import { type PlainAgent, plainAgent } from '../../support/fake-agent-plain.ts';

const listed = z.object({
  result: z.object({ tasks: z.array(z.object({ status: z.object({ state: z.string() }) })) }),
});

let agent: PlainAgent;
afterEach(() => agent.stop());

it.each(['1.0', '0.3'] as const)(
  'an agent of A2A %s whose tasks wait is probed; the report says what was not judged',
  async (version) => {
    agent = await plainAgent(version);
    const subject = { endpoint: { url: agent.url, headers: {} }, version, text: 'Greet me.' };
    const report = await runProbe(subject, await readProbedInterface(subject));
    const rows = new Map(report.rows.map((row) => [row.scenario, row]));
    expect(report.restState).toBe('INPUT_REQUIRED');
    expect(rows.get('the same message, sent again later, is the same task')?.verdict).toBe('failed');
    expect(rows.get('an ended task does not change: it accepts no message and no cancel')).toMatchObject({
      verdict: 'passed',
      note: 'a task that was cancelled',
    });
    expect(rows.get('a client that disconnects stops no task')).toMatchObject({
      verdict: 'not supported',
      note: expect.stringContaining('not judged'),
    });
    expect(report.rows.filter(({ note }) => note.includes('a valid request failed'))).toEqual([]);
    expect(probeReportText(report)).toContain('each stops at INPUT_REQUIRED');
    if (version === '0.3') return;
    // No task of the probe is left to wait for a person.
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks', params: { pageSize: 100 } });
    const headers = { 'content-type': 'application/json', 'A2A-Version': '1.0' };
    const response = await fetch(agent.url, { method: 'POST', headers, body });
    const { tasks } = listed.parse(await response.json()).result;
    expect(new Set(tasks.map(({ status }) => status.state))).toEqual(new Set(['TASK_STATE_CANCELED']));
  },
);
