import { describe, expect, it } from '@jest/globals';
import { groupOf, livingGroups } from '../../../../a2a-server/processes/living-groups.ts';

const linux = process.platform === 'linux' ? describe : describe.skip;

linux('the groups that have a process that runs', () => {
  it('are looked for once for all who ask while a look is under way, which is too early for them', async () => {
    const first = livingGroups();
    const [second, third] = [livingGroups(), livingGroups()];
    expect(second).toBe(third);
    expect(second).not.toBe(first);
    await second;
    expect(livingGroups()).not.toBe(second);
  });

  it('are each shown with a process of theirs', async () => {
    const own = groupOf(process.pid);
    const living = await livingGroups();
    const member = typeof own === 'number' ? living?.get(own) : undefined;
    expect(groupOf(member ?? 0)).toBe(own);
  });
});

linux('the group of a process', () => {
  it('is undefined for one that is not there', () => {
    // Beyond what Linux gives out.
    expect(groupOf(2 ** 22 + 1)).toBeUndefined();
  });
});
