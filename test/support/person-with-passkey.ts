/** A person with a registered software passkey, and the server's check of it. Tests of the task service use both. */
import { createPasskeyStore } from '../../a2a-server/presence/passkey-store.ts';
import { createPresenceService, type PresenceService } from '../../a2a-server/presence/presence-service.ts';
import { relyingPartyOf } from '../../a2a-server/presence/relying-party.ts';
import type { Snapshot } from '../../a2a-server/task/snapshot.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { ClientMessage } from '../../a2a-server/executor/messages/client-message.ts';
import { memoryRecords } from './memory-records.ts';
import { SoftwarePasskey } from './software-passkey.ts';
import { ADA, decisionMessage, type RunningService } from './task-service.ts';

const BASE = 'http://127.0.0.1:4100';
const CLAIMS = { origin: 'http://localhost:4100', rpId: 'localhost' };

export interface PersonWithPasskey {
  /** Pass this to the task service. */
  presence: PresenceService;
  /** Returns the approval of one waiting call, with an assertion of the passkey. */
  approval(tasks: RunningService['tasks'], saw: Snapshot, callId: string): Promise<ClientMessage>;
}

export async function personWithPasskey(clock: Pick<Clock, 'now'>): Promise<PersonWithPasskey> {
  const passkey = new SoftwarePasskey();
  const records = memoryRecords();
  const passkeys = createPasskeyStore(records);
  const { id, publicKey } = passkey;
  const registeredAt = new Date(clock.now()).toISOString();
  await passkeys.put({
    principal: ADA,
    id,
    publicKey,
    name: 'laptop',
    rpId: 'localhost',
    count: 0,
    transports: [],
    registeredAt,
  });
  const presence = createPresenceService({
    passkeys,
    records,
    party: relyingPartyOf(BASE),
    base: BASE,
    clock,
  });
  return {
    presence,
    async approval(tasks, saw, callId) {
      const unsigned = decisionMessage(saw, { callId, decision: 'approve' });
      const [decision] = unsigned.decisions?.decisions ?? [];
      if (decision === undefined) throw new Error('the message has no decision');
      const statement = await tasks.presenceStatement(saw.taskId, { principal: ADA }, decision);
      const { challenge } = await presence.challenge(ADA, statement);
      return decisionMessage(saw, { ...decision, presence: passkey.assert(challenge, CLAIMS) });
    },
  };
}
