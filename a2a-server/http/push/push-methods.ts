/** The methods of A2A 1.0 for push notification configurations (§3.1.7 to §3.1.10), and the configuration of a message. */
import type {
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  SendMessageRequest,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import { PushNotificationNotSupportedError } from '@a2a-js/sdk/errors';
import type { PushNotifications } from '../../push/push-notifications.ts';
import type { Subscription } from '../../push/subscription.ts';
import type { CallContext } from '../auth/call-context.ts';

export interface PushMethods {
  create(config: TaskPushNotificationConfig, context: CallContext): Promise<TaskPushNotificationConfig>;
  get(
    request: GetTaskPushNotificationConfigRequest,
    context: CallContext,
  ): Promise<TaskPushNotificationConfig>;
  list(
    request: ListTaskPushNotificationConfigsRequest,
    context: CallContext,
  ): Promise<ListTaskPushNotificationConfigsResponse>;
  delete(request: DeleteTaskPushNotificationConfigRequest, context: CallContext): Promise<void>;
  /**
   * Checks the configuration of a message before the message is sent.
   * @returns a function that registers it for the message's task
   */
  ofMessage(request: SendMessageRequest, context: CallContext): Promise<(taskId: string) => Promise<void>>;
}

/** @param push undefined if the server sends no push notifications */
export function pushMethods(push: PushNotifications | undefined): PushMethods {
  /** A2A 1.0 §3.3.4: a client must learn that the server does not support this. The server has it for A2A 1.0 only. */
  const supported = ({ wire }: CallContext): PushNotifications => {
    if (push === undefined || wire === 'jsonrpc-0.3') throw new PushNotificationNotSupportedError();
    return push;
  };
  const create = (config: TaskPushNotificationConfig, context: CallContext): Promise<Subscription> =>
    supported(context).create(configIn(config), context.caller.requester, {
      approval: context.speaksApproval,
      resumable: context.resumes,
    });
  return {
    create: async (config, context) => withoutSecrets(await create(config, context)),
    get: async ({ taskId, id }, context) =>
      withoutSecrets(await supported(context).get(taskId, id, context.caller.requester)),
    async list({ taskId }, context) {
      const found = await supported(context).list(taskId, context.caller.requester);
      // There are at most a few, so one page has them all.
      return { configs: found.map(withoutSecrets), nextPageToken: '' };
    },
    delete: ({ taskId, id }, context) => supported(context).delete(taskId, id, context.caller.requester),
    async ofMessage({ configuration }, context) {
      const config = configuration?.taskPushNotificationConfig;
      if (config === undefined) return () => Promise.resolve();
      await supported(context).check(config);
      return async (taskId) => void (await create({ ...config, taskId }, context));
    },
  };
}

function configIn({ taskId, id, url, token, authentication }: TaskPushNotificationConfig) {
  const { scheme = '', credentials = '' } = authentication ?? {};
  return { taskId, id, url, token, authentication: scheme === '' ? null : { scheme, credentials } };
}

/** The secrets go to the receiver only. */
function withoutSecrets({ taskId, id, url, authentication }: Subscription): TaskPushNotificationConfig {
  return {
    tenant: '',
    taskId,
    id,
    url,
    token: '',
    authentication: authentication === null ? undefined : { scheme: authentication.scheme, credentials: '' },
  };
}
