/** The HTTP app over the real task service, and people of two tenants with their tokens. */
import { z } from 'zod';
import { makeToken } from '../../../a2a-server/access/issued-token.ts';
import type { IssuedTokenReader } from '../../../a2a-server/access/issued-token-reader.ts';
import { ROLES, type Role } from '../../../a2a-server/access/role.ts';
import { PushConfigurations } from '../../../a2a-server/push/push-configurations.ts';
import { pendingActions } from '../../../a2a-server/task/pending.ts';
import type { Snapshot } from '../../../a2a-server/task/snapshot.ts';
import { TOOL_APPROVAL_EXTENSION } from '../../../shared/protocol/extensions.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { NO_ISSUED_TOKENS } from '../../support/no-issued-tokens.ts';
import { startTaskService } from '../../support/task-service.ts';
import { request, startServer, userMessage } from './test-server.ts';
import type { RpcAnswer, TestServer } from './test-server.ts';
import { modelsOf } from '../../support/model-settings.ts';
import { pushParts } from '../../support/push-parts.ts';

const PEOPLE = {
  ann: { tenant: 'acme', roles: ['delegate', 'approve'] },
  bob: { tenant: 'acme', roles: ['delegate', 'approve'] },
  olga: { tenant: 'acme', roles: ['operate'] },
  ray: { tenant: 'acme', roles: ['read'] },
  ci: { tenant: 'acme', roles: ['delegate'] },
  eve: { tenant: 'beta', roles: ROLES },
  zed: { roles: ROLES },
} as const satisfies Record<string, { tenant?: string; roles: readonly Role[] }>;
export type Person = keyof typeof PEOPLE;

export const taskSchema = z.object({ id: z.string(), contextId: z.string() });

export interface TenantServer {
  server: TestServer;
  as: (person: Person) => Record<string, string>;
  get: (person: Person, path: string) => Promise<RpcAnswer>;
  post: (person: Person, path: string, body?: object) => Promise<RpcAnswer>;
  /** Begins a task that waits for the approval of a file. */
  delegated: (person: Person) => Promise<{ taskId: string; sessionId: string }>;
  snapshot: (taskId: string, principal?: string) => Promise<Snapshot>;
  /** Returns a message part that decides the task's first pending action. */
  decision: (taskId: string, decision: string, principal?: string) => Promise<object>;
}

export async function startTenantServer({ fourEyes = false } = {}): Promise<TenantServer> {
  const clock = new FakeClock();
  const made = Object.entries(PEOPLE).map(([principal, { roles, ...more }]) =>
    makeToken({ principal, ...more, roles: [...roles], lifetimeMs: null }, clock.now()),
  );
  const tokens = new Map(made.map(({ text, token }) => [token.principal, text]));
  const issued: IssuedTokenReader = {
    ...NO_ISSUED_TOKENS,
    find: async (given) => made.find(({ text }) => text === given)?.token,
    active: async (id) => made.find(({ token }) => token.id === id)?.token,
  };
  const { tasks } = await startTaskService({ models: modelsOf(), clock, fourEyes });
  const push = new PushConfigurations({ ...pushParts(), tasks, clock, audited: () => Promise.resolve() });
  const server = await startServer({ issued, clock, tasks, push });
  const as: TenantServer['as'] = (person) => ({ authorization: `Bearer ${tokens.get(person)}` });
  const post: TenantServer['post'] = (person, path, body = {}) =>
    request(server, { path, body: JSON.stringify(body), headers: as(person) });
  const snapshot: TenantServer['snapshot'] = (taskId, principal = 'acme/ann') =>
    tasks.snapshot(taskId, { principal });
  return {
    server: { ...server, close: () => push.stop().then(server.close) },
    as,
    post,
    snapshot,
    get: (person, path) => request(server, { method: 'GET', path, headers: as(person) }),
    async delegated(person) {
      const { body } = await post(person, '/message:send', userMessage('Create test.md with hello'));
      const { task } = z.object({ task: taskSchema }).parse(body);
      return { taskId: task.id, sessionId: task.contextId };
    },
    async decision(taskId, decision, principal) {
      const [pending] = pendingActions(await snapshot(taskId, principal));
      const { callId, shown } = pending ?? {};
      return {
        data: { extension: TOOL_APPROVAL_EXTENSION, decisions: [{ callId, shown, decision, scope: 'once' }] },
      };
    },
  };
}
