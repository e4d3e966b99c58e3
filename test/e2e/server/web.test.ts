/** Tests the web tools in the server program, with a site of the test. */
import { describe, expect, it } from '@jest/globals';
import { EventEmitter, once } from 'node:events';
import { decisionOn } from '../../support/a2a-message.ts';
import { plan, type PlannedCall } from '../../support/offline-plan.ts';
import { stage, stageAgain } from '../../support/stage.ts';
import { openPages, openSite, type Site } from '../../support/web-site.ts';
import { activitiesOf } from '../../support/wire-event.ts';

const fetched = (url: string): PlannedCall => ({ tool: 'fetch', input: { url } });
const listing = ({ host }: Site) => ({ args: ['--allow-private-host', host] });

describe('the tool fetch of a server', () => {
  it('X2 fetch refuses every address of this machine, without asking a person', async () => {
    const site = await openPages({ '/': 'secret' });
    const { peer } = await stage();
    const { taskId } = await peer.send(plan(fetched(`${site.origin}/`), { say: 'We end.' }));
    const task = await peer.task(taskId);
    expect(task.state).toBe('COMPLETED');
    expect(task.text).toMatch(/this machine.*--allow-private-host 127\.0\.0\.1/);
    expect(site.asked).toEqual([]);
  });

  it('X2 fetch requests a host from the operator’s list after a person has seen the URL', async () => {
    const site = await openPages({ '/a': '<title>Page</title><p>The words.' });
    const { peer } = await stage(listing(site));
    const first = await peer.stream(plan(fetched(`${site.origin}/a`), { say: 'We end.' }));
    const { taskId, pending } = await first.parked();
    expect(pending).toMatchObject([
      { tool: 'fetch', sideEffect: 'network', preview: { type: 'url', url: `${site.origin}/a` } },
    ]);
    expect(site.asked).toEqual([]);
    const second = await peer.decide(taskId, [decisionOn(pending, 'approve')]);
    expect((await second.rest()).at(-1)?.state).toBe('COMPLETED');
    expect((await peer.task(taskId)).text).toMatch(/Title: Page[^]*The words\./);
    expect(site.asked).toEqual(['/a']);
  });

  it('E2 R22 if the server is killed during an approved fetch, the next server runs the fetch again without asking', async () => {
    let hang = true;
    const reached = new EventEmitter();
    const half = once(reached, 'half');
    const site = await openSite((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/plain' });
      if (!hang) return void response.end('whole');
      reached.emit('half', response.write('half'));
    });
    const before = await stage(listing(site));
    const first = await before.peer.stream(plan(fetched(`${site.origin}/`), { say: 'We end.' }));
    const { taskId, pending } = await first.parked();
    await before.peer.decide(taskId, [decisionOn(pending, 'approve')]);
    await half;
    await before.server.kill();
    hang = false;
    const { peer } = await stageAgain(before);
    const events = await (await peer.follow(taskId, 0)).rest();
    expect(events.at(-1)?.state).toBe('COMPLETED');
    // The person must get one question, before the first fetch.
    expect(events.filter(({ state }) => state === 'INPUT_REQUIRED')).toHaveLength(1);
    expect(activitiesOf(events).filter(({ type }) => type === 'tool.started')).toHaveLength(2);
    expect((await peer.task(taskId)).text).toContain('whole');
    expect(site.asked).toEqual(['/', '/']);
  });
});

describe('the tool crawl of a server', () => {
  it('R40 an abort by toolId stops crawl, and the model gets the results so far', async () => {
    const site = await openPages({
      '/': '<title>Start</title><p>How to extract content.</p><a href="/slow">on</a>',
      '/slow': (_request, response) =>
        void response.writeHead(200, { 'Content-Type': 'text/html' }).write('<p>'),
    });
    const { peer } = await stage(listing(site));
    const input = { url: `${site.origin}/`, query: 'Extract content', maxPages: 10 };
    const text = plan({ tool: 'crawl', input }, { say: 'We end.' });
    const stream = await peer.stream(text, { settings: { autoExecute: true } });
    const toolId = await stream.output(`page 2 of 10: ${site.origin}/slow`);
    expect(toolId).toMatch(/^crawl-\d+-[0-9a-f]+$/);
    expect(await peer.abort(toolId)).toEqual({
      success: true,
      message: `Successfully aborted tool execution: ${toolId}`,
    });
    const events = await stream.rest();
    expect(events.at(-1)?.state).toBe('COMPLETED');
    expect(activitiesOf(events)).toContainEqual(
      expect.objectContaining({ type: 'tool.finished', outcome: 'stopped', stopReason: 'abort-request' }),
    );
    const [{ taskId } = { taskId: '' }] = stream.seen;
    expect((await peer.task(taskId)).text).toMatch(/read 1 page[^]*How to extract content\.[^]*We end\./);
  });
});
