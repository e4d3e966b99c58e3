/**
 * The bodies of push notifications. A2A 1.0 §4.3.3: each is a `StreamResponse`. A2A 0.3 defines no body. The receivers
 * of A2A 0.3, including those in the SDKs, expect a `Task`. A chat gets a message in its own format.
 */
import { StreamResponse } from '@a2a-js/sdk';
import { V03PushNotificationSerializer } from '@a2a-js/sdk/compat/v0_3/server';
import { chatBody } from '../../../shared/chat/chat-message.ts';
import { pageAddress } from '../../../shared/net/page-address.ts';
import { chatNotice } from '../../push/chat-notice.ts';
import type { PushBodyBuilder } from '../../push/next-posts.ts';
import type { PushSubscription } from '../../push/push-subscription.ts';
import { generationOf } from '../../task/generation.ts';
import { toStreamResponse } from '../wire/event-projection.ts';
import { eventWithGeneration, moveGenerationsIntoFields } from '../wire/generation-field.ts';
import type { ServerDraftProtocol } from '../wire/draft-protocols.ts';
import { toA2aTask } from '../wire/task-projection.ts';
import type { WireOptions } from '../wire/build-messages-and-artifacts.ts';

const legacy = new V03PushNotificationSerializer();

/**
 * Returns the functions that create the bodies.
 * @param base the server's URL for clients, at which the approval page is
 * @param draftProtocols the draft protocols that the server offers
 */
export function createPushBodyBuilder({
  base,
  draftProtocols,
}: {
  base: string;
  draftProtocols: readonly ServerDraftProtocol[];
}): PushBodyBuilder {
  const generations = draftProtocols.includes('a2a-1.1');
  const wireOptionsOf = ({
    taskId,
    sessionId,
    approval,
    resumable,
    wire,
  }: PushSubscription): WireOptions => ({
    taskId,
    sessionId,
    approval,
    resumable,
    ...(generations && wire === '1.0' && { generations }),
  });
  return {
    ofTask(snapshot, subscription) {
      const { wire, url, chat } = subscription;
      if (wire !== '1.0' && wire !== '0.3') {
        const page = pageAddress(base, { taskId: snapshot.taskId });
        const message = chatNotice(snapshot, chat?.title ?? '', page);
        return message && chatBody({ format: wire, url }, message);
      }
      const task: StreamResponse = {
        payload: { $case: 'task', value: toA2aTask(snapshot, wireOptionsOf(subscription)) },
      };
      return wire === '0.3' ? legacy.serialize(task).body : textOf(task);
    },
    ofEntry(entry, subscription, counted) {
      const options = wireOptionsOf(subscription);
      const event = toStreamResponse(entry, options);
      if (event === undefined) return undefined;
      return textOf(options.generations ? eventWithGeneration(event, generationOf(counted, options)) : event);
    },
  };
}

function textOf(event: StreamResponse): string {
  return JSON.stringify(moveGenerationsIntoFields(StreamResponse.toJSON(event)));
}
