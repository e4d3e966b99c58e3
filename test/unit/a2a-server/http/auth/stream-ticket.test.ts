import { describe, expect, test } from '@jest/globals';
import { streamTickets, TICKET_MS } from '../../../../../a2a-server/http/auth/stream-ticket.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

const SERVER = 'server-token-0123456789-abcdef';
const ADA = { principal: 'ada', token: 'ada-token-0123456789-abcdef' };
const BEA = { principal: 'bea', token: 'bea-token-0123456789-abcdef' };

const clock = new FakeClock();
const office = (server = SERVER, credentials = [ADA, BEA]) =>
  streamTickets(server, credentials, () => clock.now());

describe('stream tickets', () => {
  test('stream tickets stay valid after a restart with other settings', () => {
    const { ticket, expiresAt } = office().issue({ principal: 'ada' }, 'task-1');
    expect(office(SERVER, [BEA, ADA]).redeem(ticket, 'task-1')).toEqual({ principal: 'ada', expiresAt });
    expect(office(SERVER, [ADA]).redeem(ticket, 'task-1').principal).toBe('ada');
    expect(expiresAt - clock.now()).toBe(TICKET_MS);
  });

  test('stream tickets become invalid if the principal’s or the server’s token changes', () => {
    const { ticket } = office().issue({ principal: 'ada' }, 'task-1');
    for (const other of [
      office('server-token-changed-0123456789'),
      office(SERVER, [{ ...ADA, token: 'ada-token-changed-0123456789' }, BEA]),
      office(SERVER, [ADA, { ...ADA, token: 'ada-second-token-0123456789' }]),
      office(SERVER, [BEA]),
      // A ticket is not valid for a principal of another name, even with the same token.
      office(SERVER, [{ principal: 'eve', token: ADA.token }]),
    ])
      expect(() => other.redeem(ticket, 'task-1')).toThrow('get a new one');
  });

  test('stream tickets name their principal and are valid for one task', () => {
    const tickets = office();
    expect(tickets.redeem(tickets.issue({ principal: 'bea' }, 'task-1').ticket, 'task-1').principal).toBe(
      'bea',
    );
    expect(() => tickets.redeem(tickets.issue({ principal: 'bea' }, 'task-1').ticket, 'task-2')).toThrow(
      'get a new one',
    );
  });

  test('stream tickets expire exactly at their end, and do not reveal principal, task or token', () => {
    const tickets = office();
    const { ticket, expiresAt } = tickets.issue({ principal: 'ada' }, 'task-1');
    expect(ticket).toMatch(/^\d+\.[\w-]{43}$/);
    clock.advance(expiresAt - clock.now() - 1);
    expect(tickets.redeem(ticket, 'task-1').expiresAt).toBe(expiresAt);
    clock.advance(1);
    expect(() => tickets.redeem(ticket, 'task-1')).toThrow('has expired');
  });
});
