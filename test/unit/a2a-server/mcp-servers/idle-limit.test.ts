import { describe, expect, it, jest } from '@jest/globals';
import { IdleLimit } from '../../../../a2a-server/mcp-servers/idle-limit.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

function limited() {
  const clock = new FakeClock();
  const onExpire = jest.fn();
  return { clock, onExpire, limit: new IdleLimit(clock, 1000, onExpire) };
}

describe('the idle limit of an MCP call', () => {
  it('the idle limit expires once, after its time without a message', () => {
    const { clock, onExpire, limit } = limited();
    clock.advance(999);
    limit.restart();
    clock.advance(999);
    expect(onExpire).not.toHaveBeenCalled();
    clock.advance(1);
    expect(onExpire).toHaveBeenCalledTimes(1);
    expect(limit.expired).toBe(true);
    limit.restart();
    clock.advance(5000);
    expect(onExpire).toHaveBeenCalledTimes(1);
  });

  it('the idle limit pauses while the MCP server asks a person', () => {
    const { clock, onExpire, limit } = limited();
    const release = limit.hold();
    clock.advance(5000);
    expect(onExpire).not.toHaveBeenCalled();
    release();
    clock.advance(1000);
    expect(onExpire).toHaveBeenCalledTimes(1);
  });

  it('the idle limit does not expire after it was cancelled, even if a pause ends later', () => {
    const { clock, onExpire, limit } = limited();
    const release = limit.hold();
    limit.cancel();
    release();
    clock.advance(5000);
    expect(onExpire).not.toHaveBeenCalled();
  });
});
