import { describe, expect, test } from '@jest/globals';
import { createStreamTickets, STREAM_TICKET_MS } from '../../../../../a2a-server/http/auth/stream-ticket.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { NO_ISSUED_TOKENS } from '../../../../support/no-issued-tokens.ts';

const SERVER = 'server-token-0123456789-abcdef';
const ADA = { principal: 'ada', token: 'ada-token-0123456789-abcdef' };
const BEA = { principal: 'bea', token: 'bea-token-0123456789-abcdef' };

const clock = new FakeClock();
const office = (server = SERVER, credentials = [ADA, BEA]) =>
  createStreamTickets({ secret: server, credentials, now: () => clock.now(), issued: NO_ISSUED_TOKENS });

describe('stream tickets', () => {
  test('stream tickets stay valid after a restart with other settings', async () => {
    const { ticket, expiresAt } = await office().issue({ principal: 'ada' }, 'task-1');
    expect(await office(SERVER, [BEA, ADA]).redeem(ticket, 'task-1')).toEqual({
      principal: 'ada',
      expiresAt,
    });
    expect((await office(SERVER, [ADA]).redeem(ticket, 'task-1')).principal).toBe('ada');
    expect(expiresAt - clock.now()).toBe(STREAM_TICKET_MS);
  });

  test('stream tickets become invalid if the principal’s or the server’s token changes', async () => {
    const { ticket } = await office().issue({ principal: 'ada' }, 'task-1');
    for (const other of [
      office('server-token-changed-0123456789'),
      office(SERVER, [{ ...ADA, token: 'ada-token-changed-0123456789' }, BEA]),
      office(SERVER, [ADA, { ...ADA, token: 'ada-second-token-0123456789' }]),
      office(SERVER, [BEA]),
      // A ticket is not valid for a principal of another name, even with the same token.
      office(SERVER, [{ principal: 'eve', token: ADA.token }]),
    ])
      await expect(other.redeem(ticket, 'task-1')).rejects.toThrow('get a new one');
  });

  test('stream tickets name their principal and are valid for one task', async () => {
    const tickets = office();
    const { ticket } = await tickets.issue({ principal: 'bea' }, 'task-1');
    expect((await tickets.redeem(ticket, 'task-1')).principal).toBe('bea');
    await expect(tickets.redeem(ticket, 'task-2')).rejects.toThrow('get a new one');
  });

  test('stream tickets expire exactly at their end, and do not reveal principal, task or token', async () => {
    const tickets = office();
    const { ticket, expiresAt } = await tickets.issue({ principal: 'ada' }, 'task-1');
    expect(ticket).toMatch(/^\d+\.[\w-]{43}$/);
    clock.advance(expiresAt - clock.now() - 1);
    expect((await tickets.redeem(ticket, 'task-1')).expiresAt).toBe(expiresAt);
    clock.advance(1);
    await expect(tickets.redeem(ticket, 'task-1')).rejects.toThrow('has expired');
  });
});
