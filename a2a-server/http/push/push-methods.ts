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
import type { PushConfig, PushConfigurations } from '../../push/push-configurations.ts';
import type { PushSubscription } from '../../push/push-subscription.ts';
import type { AcceptedMessage } from '../../executor/messages/accepted-message.ts';
import type { ClientMessage } from '../../executor/messages/client-message.ts';
import type { TaskService } from '../../executor/task-service.ts';
import type { A2aRequestContext } from '../auth/a2a-request-context.ts';

export type PushMethods = ReturnType<typeof createPushMethods>;

export function createPushMethods(push: PushConfigurations, tasks: Pick<TaskService, 'recipient' | 'send'>) {
  return {
    async create(
      config: TaskPushNotificationConfig,
      context: A2aRequestContext,
    ): Promise<TaskPushNotificationConfig> {
      const { requester } = context.caller;
      return withoutSecrets(await push.create(configIn(config, context), requester, formOf(context)));
    },
    async get(
      named: GetTaskPushNotificationConfigRequest,
      context: A2aRequestContext,
    ): Promise<TaskPushNotificationConfig> {
      const { taskId, id } = withId(named, context);
      return withoutSecrets(await push.get(taskId, id, context.caller.requester));
    },
    async list(
      { taskId }: ListTaskPushNotificationConfigsRequest,
      context: A2aRequestContext,
    ): Promise<ListTaskPushNotificationConfigsResponse> {
      const found = await push.list(taskId, context.caller.requester);
      // A task has only a few configurations, so one page contains all of them.
      return { configs: found.map(withoutSecrets), nextPageToken: '' };
    },
    async delete(
      { taskId, id }: DeleteTaskPushNotificationConfigRequest,
      context: A2aRequestContext,
    ): Promise<void> {
      await push.delete(taskId, id, context.caller.requester);
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
      return push.createWithMessage(
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
