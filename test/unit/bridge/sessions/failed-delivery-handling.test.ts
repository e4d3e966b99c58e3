import { expect, test } from '@jest/globals';
import { failedDeliveryHandling } from '../../../../bridge/sessions/failed-delivery-handling.ts';
import type { MessageInFlight } from '../../../../bridge/sessions/messages-in-flight.ts';
import { ProductError } from '../../../../shared/runtime/errors.ts';

type Message = Pick<MessageInFlight, 'origin' | 'promised' | 'cancel'>;

const OWN: Message = { origin: 'this-bridge', promised: false, cancel: null };
const ADOPTED: Message = { origin: 'ended-bridge', promised: true, cancel: null };

const refused = (arrived: string): ProductError =>
  new ProductError('AGENT_ERROR', 'no', { facts: { arrived } });
const unreachable = new ProductError('AGENT_UNREACHABLE', 'no', { facts: { arrived: 'no' } });

test.each<[string, unknown, Message, string]>([
  ['the outcome is open', refused('unresolved'), OWN, 'postpone'],
  [
    'the outcome is open, and the client cancelled',
    refused('unresolved'),
    { ...OWN, cancel: 'x' },
    'postpone',
  ],
  ['the agent refuses it', refused('no'), OWN, 'drop'],
  ['the agent refuses it, and a client has its id', refused('no'), { ...OWN, promised: true }, 'record'],
  ['it was cancelled in time', refused('no'), { ...OWN, promised: true, cancel: 'x' }, 'drop'],
  ['it may have arrived', refused('unknown'), OWN, 'record'],
  ['it may have arrived, and was cancelled', refused('unknown'), { ...OWN, cancel: 'x' }, 'record'],
  ['the error is of another kind', new Error('no'), OWN, 'drop'],
  ['the agent is unreachable', unreachable, OWN, 'drop'],
  ['an adopted message finds the agent unreachable', unreachable, ADOPTED, 'postpone'],
  ['the agent refuses an adopted message', refused('no'), ADOPTED, 'record'],
  ['an adopted, cancelled message is refused', refused('no'), { ...ADOPTED, cancel: 'x' }, 'record'],
])('a failed delivery when %s', (_when, error, message, expected) => {
  expect(failedDeliveryHandling(error, message)).toBe(expected);
});
