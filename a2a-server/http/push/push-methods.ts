/**
 * Implements the methods for push notification configurations (A2A 1.0 §3.1.7 to §3.1.10, A2A 0.3 §7.5 to §7.8). Also
 * passes a client's message to the task service, and registers the configuration that the message may contain.
 */
import type {
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  SendMessageRequest,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import { PushNotificationNotSupportedError } from '@a2a-js/sdk/errors';
import type { PushConfig, PushConfigurations } from '../../push/push-configurations.ts';
import type { PushSubscription } from '../../push/push-subscription.ts';
import type { AcceptedMessage } from '../../executor/messages/accepted-message.ts';
import type { ClientMessage } from '../../executor/messages/client-message.ts';
import type { TaskService } from '../../executor/task-service.ts';
import type { A2aRequestContext } from '../auth/a2a-request-context.ts';

export type PushMethods = ReturnType<typeof createPushMethods>;

/** @param push undefined if the server sends no push notifications */
export function createPushMethods(
  push: PushConfigurations | undefined,
  tasks: Pick<TaskService, 'recipient' | 'send'>,
) {
  /**
   * Returns the store of the configurations. Throws if the server sends no push notifications, because a client must
   * learn this (A2A 1.0 §3.3.4).
   * @throws PushNotificationNotSupportedError
   */
  const supported = (): PushConfigurations => {
    if (push === undefined) throw new PushNotificationNotSupportedError();
    return push;
  };
  return {
    async create(
      config: TaskPushNotificationConfig,
      context: A2aRequestContext,
    ): Promise<TaskPushNotificationConfig> {
      const { requester } = context.caller;
      return withoutSecrets(await supported().create(configIn(config, context), requester, formOf(context)));
    },
    async get(
      named: GetTaskPushNotificationConfigRequest,
      context: A2aRequestContext,
    ): Promise<TaskPushNotificationConfig> {
      const { taskId, id } = withId(named, context);
      return withoutSecrets(await supported().get(taskId, id, context.caller.requester));
    },
    async list(
      { taskId }: ListTaskPushNotificationConfigsRequest,
      context: A2aRequestContext,
    ): Promise<ListTaskPushNotificationConfigsResponse> {
      const found = await supported().list(taskId, context.caller.requester);
      // A task has only a few configurations, so one page contains all of them.
      return { configs: found.map(withoutSecrets), nextPageToken: '' };
    },
    async delete(
      { taskId, id }: DeleteTaskPushNotificationConfigRequest,
      context: A2aRequestContext,
    ): Promise<void> {
      await supported().delete(taskId, id, context.caller.requester);
    },
    /**
     * Sends a message. If the message has a push notification configuration, registers the configuration for the
     * message's task.
     */
    async send(
      configuration: SendMessageRequest['configuration'],
      incoming: ClientMessage,
      context: A2aRequestContext,
    ): Promise<AcceptedMessage> {
      const wanted = configuration?.taskPushNotificationConfig;
      if (wanted === undefined) return tasks.send(incoming);
      // A client that repeats a message must not create a second configuration. So the id of the message is the default
      // for the id of the configuration. In A2A 0.3, the id of the task is the default (`withId`).
      const id = wanted.id === '' && !isLegacy(context) ? incoming.message.messageId : wanted.id;
      return supported().createWithMessage(
        {
          configOf: (taskId) => configIn({ ...wanted, id, taskId }, context),
          recipient: () => tasks.recipient(incoming),
          send: () => tasks.send(incoming),
        },
        context.caller.requester,
        formOf(context),
      );
    },
  };
}

function formOf(
  context: A2aRequestContext,
): Pick<PushSubscription, 'wire' | 'approval' | 'resumable' | 'tokenId' | 'provided'> {
  const { tokenId, roles } = context.caller.identity;
  return {
    ...(tokenId !== undefined && { tokenId }),
    ...(roles !== undefined && { provided: true }),
    wire: isLegacy(context) ? '0.3' : '1.0',
    approval: context.speaksApproval,
    resumable: context.resumes,
  };
}

function isLegacy({ wire }: A2aRequestContext): boolean {
  return wire === 'jsonrpc-0.3';
}

/**
 * Adds the id to a request that names a configuration. A2A 0.3 §7.6.1: a client may leave out the id. As in the SDKs of
 * A2A 0.3, the id is then the id of the task.
 */
function withId<Named extends { taskId: string; id: string }>(
  named: Named,
  context: A2aRequestContext,
): Named {
  return named.id === '' && isLegacy(context) ? { ...named, id: named.taskId } : named;
}

function configIn(config: TaskPushNotificationConfig, context: A2aRequestContext): PushConfig {
  const { taskId, id, url, token, authentication } = withId(config, context);
  const { scheme = '', credentials = '' } = authentication ?? {};
  return { taskId, id, url, token, authentication: scheme === '' ? null : { scheme, credentials } };
}

/** Returns a configuration without its secrets. The secrets go only to the receiver. */
function withoutSecrets({ taskId, id, url, authentication }: PushSubscription): TaskPushNotificationConfig {
  return {
    tenant: '',
    taskId,
    id,
    url,
    token: '',
    authentication: authentication === null ? undefined : { scheme: authentication.scheme, credentials: '' },
  };
}
