import { describe, expect, it } from '@jest/globals';
import { groupOf, livingGroups } from '../../../../a2a-server/processes/living-groups.ts';

const linux = process.platform === 'linux' ? describe : describe.skip;

linux('the groups that have a process that runs', () => {
  it('share one later scan among all callers that ask during a scan', async () => {
    const first = livingGroups();
    const [second, third] = [livingGroups(), livingGroups()];
    expect(second).toBe(third);
    expect(second).not.toBe(first);
    await second;
    expect(livingGroups()).not.toBe(second);
  });

  it('have one of their processes each as an example', async () => {
    const own = groupOf(process.pid);
    const living = await livingGroups();
    const member = typeof own === 'number' ? living?.get(own) : undefined;
    expect(groupOf(member ?? 0)).toBe(own);
  });
});

linux('the group of a process', () => {
  it('is undefined if the process does not exist', () => {
    // A process id above the maximum of Linux.
    expect(groupOf(2 ** 22 + 1)).toBeUndefined();
  });
});
