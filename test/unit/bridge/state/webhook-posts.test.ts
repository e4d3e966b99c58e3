import { beforeEach, describe, expect, test } from '@jest/globals';
import type { WebhookAction } from '../../../../bridge/state/webhook-posts.ts';
import { WebhookPosts } from '../../../../bridge/state/webhook-posts.ts';
import { endedProcessId, openDatabase } from '../../../support/bridge-database.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const ACTION: WebhookAction = { agent: 'a', sessionId: 's', taskId: 't', callId: 'c', shown: 'h' };

describe('the webhook posts of an ended bridge', () => {
  let one: WebhookPosts;
  let other: WebhookPosts;
  let killed: WebhookPosts;

  beforeEach(async () => {
    const state = await temporaryDirectory();
    killed = new WebhookPosts(await openDatabase(state, await endedProcessId()));
    one = new WebhookPosts(await openDatabase(state));
    // The posts of another bridge, whose process still runs.
    other = new WebhookPosts(await openDatabase(state, `${String(process.pid)}-x`));
    await killed.take(ACTION);
  });

  test.each(['asking', 'asked'] as const)(
    'B3 if two bridges start at once, one of them takes over a post in the state %s',
    async (state) => {
      killed.set(ACTION, state);
      const taken = await Promise.all([one.takeOver([ACTION.agent]), other.takeOver([ACTION.agent])]);
      expect(taken.flat()).toEqual([expect.objectContaining({ ...ACTION, state })]);
      expect(await Promise.all([one.takeOver([ACTION.agent]), other.takeOver([ACTION.agent])])).toEqual([
        [],
        [],
      ]);
    },
  );

  test('an unfinished post is sent once, by the bridge that took it over', async () => {
    const [mine] = await Promise.all([one.takeOver([ACTION.agent]), other.takeOver([ACTION.agent])]);
    const [owner, stranger] = mine.length === 1 ? [one, other] : [other, one];
    expect(await stranger.take(ACTION)).toBe(false);
    expect(await owner.take(ACTION)).toBe(true);
    expect(await owner.take(ACTION)).toBe(false);
  });

  test('a bridge that releases a post, or does not know the post’s agent, leaves the post to another bridge', async () => {
    expect(await one.takeOver(['another'])).toEqual([]);
    expect(await one.takeOver([ACTION.agent])).toHaveLength(1);
    one.release(ACTION);
    expect(await other.takeOver([ACTION.agent])).toHaveLength(1);
    expect(await one.take(ACTION)).toBe(false);
    expect(await other.take(ACTION)).toBe(true);
  });

  test('a finished post is not taken over', async () => {
    killed.set(ACTION, 'over');
    expect(await one.takeOver([ACTION.agent])).toEqual([]);
  });
});
