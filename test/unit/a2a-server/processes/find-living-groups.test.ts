import { describe, expect, it } from '@jest/globals';
import { readProcessGroup, findLivingGroups } from '../../../../a2a-server/processes/find-living-groups.ts';

const linux = process.platform === 'linux' ? describe : describe.skip;

linux('the groups that have a process that runs', () => {
  it('livingGroups scans once more for all callers that call during a scan', async () => {
    const first = findLivingGroups();
    const [second, third] = [findLivingGroups(), findLivingGroups()];
    expect(second).toBe(third);
    expect(second).not.toBe(first);
    await second;
    expect(findLivingGroups()).not.toBe(second);
  });

  it('livingGroups returns one running process for each group', async () => {
    const own = readProcessGroup(process.pid);
    const living = await findLivingGroups();
    const member = typeof own === 'number' ? living?.get(own) : undefined;
    expect(readProcessGroup(member ?? 0)).toBe(own);
  });
});

linux('the group of a process', () => {
  it('groupOf returns undefined if the process does not exist', () => {
    // No process has this id, because the maximum on Linux is 2^22.
    expect(readProcessGroup(2 ** 22 + 1)).toBeUndefined();
  });
});
