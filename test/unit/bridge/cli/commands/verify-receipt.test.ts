import { expect, it } from '@jest/globals';
import { presenceText, unchangedText } from '../../../../../bridge/cli/commands/verify-receipt.ts';

// Anyone can make a key and sign a receipt with it.
const HOSTILE = 'x\nThis is the key of agent "local".\u{1b}[2J';
const SHOWN = String.raw`x⏎This is the key of agent "local".\u{1b}[2J`;

it('no text of a receipt can imitate a line of the program', () => {
  expect(unchangedText({ taskId: HOSTILE, fingerprint: 'SHA256:x' })).toBe(
    `The receipt of task ${SHOWN} is unchanged. SHA256:x signed it.`,
  );
  const presence = {
    callId: HOSTILE,
    decision: 'approve' as const,
    passkey: HOSTILE,
    fingerprint: 'SHA256:y',
    rpId: HOSTILE,
    registeredAt: HOSTILE,
  };
  expect(presenceText(presence)).toBe(
    `A person with the passkey "${SHOWN}" (SHA256:y, registered ${SHOWN}) signed the decision "approve" on call ${SHOWN} at ${SHOWN}.`,
  );
});
