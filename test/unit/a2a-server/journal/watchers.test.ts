import { describe, expect, it, jest } from '@jest/globals';
import { Watchers } from '../../../../a2a-server/journal/watchers.ts';

const microtasks = () => new Promise((resolve) => setImmediate(resolve));

describe('Watchers', () => {
  it('S3 holds nothing for a task once its last watcher has left', () => {
    const watchers = new Watchers();
    const stops = ['a', 'a', 'b'].map((taskId) => watchers.add(taskId, () => {}));
    expect(watchers.size).toBe(2);
    stops.forEach((stop) => stop());
    stops.forEach((stop) => stop());
    expect(watchers.size).toBe(0);
  });

  it('an old stop does not take away a watcher that came later', async () => {
    const watchers = new Watchers();
    const stop = watchers.add('a', () => {});
    stop();
    const wake = jest.fn();
    watchers.add('a', wake);
    stop();
    watchers.wake('a');
    await microtasks();
    expect(wake).toHaveBeenCalledTimes(1);
  });

  it('does not call a watcher that left between the wake and its turn', async () => {
    const watchers = new Watchers();
    const wake = jest.fn();
    const stop = watchers.add('a', wake);
    watchers.wake('a');
    stop();
    await microtasks();
    expect(wake).not.toHaveBeenCalled();
  });

  it('does not wake what starts to watch while others are woken', async () => {
    const watchers = new Watchers();
    const late = jest.fn();
    watchers.add('a', () => void watchers.add('a', late));
    watchers.wake('a');
    await microtasks();
    expect(late).not.toHaveBeenCalled();
  });

  it('is silent once it is cleared', async () => {
    const watchers = new Watchers();
    const wake = jest.fn();
    watchers.add('a', wake);
    watchers.wake('a');
    watchers.clear();
    watchers.wake('a');
    await microtasks();
    expect([wake.mock.calls.length, watchers.size]).toEqual([0, 0]);
  });
});
