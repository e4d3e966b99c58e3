import { describe, expect, it, jest } from '@jest/globals';
import { AppendWatchers } from '../../../../a2a-server/journal/append-watchers.ts';

const microtasks = () => new Promise((resolve) => setImmediate(resolve));

describe('the Watchers of appends', () => {
  it('S3 after a task’s last watcher is removed, Watchers stores nothing for the task', () => {
    const watchers = new AppendWatchers();
    const stops = ['a', 'a', 'b'].map((taskId) => watchers.add(taskId, () => {}));
    expect(watchers.size).toBe(2);
    stops.forEach((stop) => stop());
    stops.forEach((stop) => stop());
    expect(watchers.size).toBe(0);
  });

  it('the stop function of an old watcher does not remove a later watcher', async () => {
    const watchers = new AppendWatchers();
    const stop = watchers.add('a', () => {});
    stop();
    const wake = jest.fn();
    watchers.add('a', wake);
    stop();
    watchers.wake('a');
    await microtasks();
    expect(wake).toHaveBeenCalledTimes(1);
  });

  it('Watchers does not call a watcher that was removed after the wake', async () => {
    const watchers = new AppendWatchers();
    const wake = jest.fn();
    const stop = watchers.add('a', wake);
    watchers.wake('a');
    stop();
    await microtasks();
    expect(wake).not.toHaveBeenCalled();
  });

  it('Watchers does not wake a watcher that is added during a wake', async () => {
    const watchers = new AppendWatchers();
    const late = jest.fn();
    watchers.add('a', () => void watchers.add('a', late));
    watchers.wake('a');
    await microtasks();
    expect(late).not.toHaveBeenCalled();
  });

  it('Watchers calls no watcher after clear', async () => {
    const watchers = new AppendWatchers();
    const wake = jest.fn();
    watchers.add('a', wake);
    watchers.wake('a');
    watchers.clear();
    watchers.wake('a');
    await microtasks();
    expect([wake.mock.calls.length, watchers.size]).toEqual([0, 0]);
  });
});
