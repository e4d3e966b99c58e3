/** Returns the channels over which an agent received decisions, in order. */
import { Message } from '@a2a-js/sdk';
import { decisionsPartSchema } from '../../../../shared/protocol/tool-approval.ts';
import type { FakeAgent } from '../../../support/fake-agent.ts';

export function decisionChannels(agent: FakeAgent): readonly (string | undefined)[] {
  return agent.requests
    .filter(({ method }) => method === 'SendStreamingMessage')
    .flatMap(({ params }) => Message.fromJSON(params['message']).parts)
    .flatMap(({ content }) => {
      const parsed = content?.$case === 'data' ? decisionsPartSchema.safeParse(content.value) : undefined;
      return parsed?.success === true ? [parsed.data.channel] : [];
    });
}
