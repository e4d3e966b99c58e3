/** Opens the passkeys of a state directory for the approval page. */
import { systemClock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import type { AuditAct } from '../audit/audit-record.ts';
import type { PagePasskeys } from '../page/passkey-routes.ts';
import { passkeyFile } from '../presence/passkey-file.ts';
import { createPasskeys } from '../presence/passkeys.ts';
import { createPresence } from '../presence/presence.ts';
import { registrationCodes } from '../presence/registration-codes.ts';
import { relyingPartyOf } from '../presence/relying-party.ts';

/** @param base the server's URL for clients. Its host is the passkeys' relying party. */
export function openPasskeys(
  stateDir: string,
  base: string,
  { log, audited }: { log: Logger; audited: (act: AuditAct) => Promise<void> },
): PagePasskeys {
  const file = passkeyFile(stateDir);
  const party = relyingPartyOf(base);
  const codes = registrationCodes(stateDir, () => systemClock.now());
  return {
    party,
    base,
    presence: createPresence({ file, party, base, clock: systemClock }),
    passkeys: createPasskeys({
      file,
      codes,
      party,
      clock: systemClock,
      onChange(change, facts) {
        log.warn(facts, `a passkey was ${change}`);
        void audited({ act: `passkey.${change}`, ...facts });
      },
    }),
  };
}
