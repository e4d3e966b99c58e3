/** Opens the passkeys for the approval page. They are stored in the server's records. */
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import type { NewAuditRecord } from '../audit/audit-record.ts';
import type { PagePasskeys } from '../page/passkey-routes.ts';
import { createPasskeyStore } from '../presence/passkey-store.ts';
import { createPasskeys } from '../presence/passkeys.ts';
import { createPresenceService } from '../presence/presence-service.ts';
import { createRegistrationCodes } from '../presence/registration-codes.ts';
import { relyingPartyOf } from '../presence/relying-party.ts';
import type { RecordStore } from '../records/record-store.ts';

/** @param base the server's URL for clients. Its host is the passkeys' relying party. */
export function openPasskeys(
  records: RecordStore,
  base: string,
  { clock, log, audited }: { clock: Clock; log: Logger; audited: (act: NewAuditRecord) => Promise<void> },
): PagePasskeys {
  const store = createPasskeyStore(records);
  const party = relyingPartyOf(base);
  const codes = createRegistrationCodes(records, () => clock.now());
  return {
    party,
    base,
    presence: createPresenceService({ passkeys: store, records, party, base, clock }),
    passkeys: createPasskeys({
      store,
      records,
      codes,
      party,
      clock,
      onChange(change, facts) {
        log.warn(facts, `a passkey was ${change}`);
        void audited({ act: `passkey.${change}`, ...facts });
      },
    }),
  };
}
