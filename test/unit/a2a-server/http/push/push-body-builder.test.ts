import { expect, test } from '@jest/globals';
import { createPushBodyBuilder } from '../../../../../a2a-server/http/push/push-body-builder.ts';
import { taskAfter } from '../../../../support/folded-task.ts';
import { message, working } from '../../../../support/journal-samples.ts';
import { pushSubscription } from '../../../../support/push-subscription.ts';

const subscription = pushSubscription({ taskId: 't', sessionId: 's', principal: 'ada', owner: 'ada' });
const base = 'https://agent.example.com';
const task = taskAfter(message('go'), working);
const entry = { seq: 3, at: 0, event: working };

test('with the preview of A2A 1.1, notifications have the generation, and no other trace of it', () => {
  const bodies = createPushBodyBuilder({ base, draftProtocols: ['a2a-1.1'] });
  expect(JSON.parse(bodies.ofTask(task, subscription) ?? '')).toMatchObject({
    task: { id: 't', generation: '2' },
  });
  const event = bodies.ofEntry(entry, subscription, task.counted) ?? '';
  expect(JSON.parse(event)).toMatchObject({ statusUpdate: { taskId: 't', generation: '2' } });
  expect(event).not.toContain('a2a-1.1');
});

test('without it, and for A2A 0.3, they have none', () => {
  const plain = createPushBodyBuilder({ base, draftProtocols: [] });
  const bodies = [
    plain.ofTask(task, subscription),
    plain.ofEntry(entry, subscription, task.counted),
    createPushBodyBuilder({ base, draftProtocols: ['a2a-1.1'] }).ofTask(task, {
      ...subscription,
      wire: '0.3',
    }),
  ];
  for (const body of bodies) expect(body).not.toContain('generation');
});
