import { describe, expect, it } from '@jest/globals';
import type { OwnerFilter } from '../../../../a2a-server/journal/journal.ts';
import { FilterValueCache } from '../../../../a2a-server/page/filter-value-cache.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

function setUp() {
  const clock = new FakeClock();
  const reads: OwnerFilter[] = [];
  let failure: Error | undefined;
  const cache = new FilterValueCache({
    clock,
    async read(owner) {
      reads.push(owner);
      if (failure !== undefined) throw failure;
      return {
        workspaces: [owner.tenant === undefined ? `/of/${owner.principal}` : `/shared/${owner.tenant}`],
        models: [],
      };
    },
  });
  return { cache, clock, reads, fail: (error?: Error) => (failure = error) };
}

describe('the values by which readers of the task list can filter', () => {
  it('the readers of one tenant share one search for a minute', async () => {
    const { cache, clock, reads } = setUp();
    const readers = ['acme/ann', 'acme/bob'].map((principal) => ({ principal, tenant: 'acme' }));
    const both = await Promise.all(readers.map((owner) => cache.valuesOf(owner, [])));
    expect(both).toEqual(readers.map(() => ({ workspaces: ['/shared/acme'], models: [] })));
    clock.advance(59_999);
    await cache.valuesOf({ principal: 'acme/ann', tenant: 'acme' }, []);
    expect(reads).toHaveLength(1);
    clock.advance(1);
    await cache.valuesOf({ principal: 'acme/ann', tenant: 'acme' }, []);
    expect(reads).toHaveLength(2);
  });

  it('X1 readers who see other tasks get other values', async () => {
    const { cache } = setUp();
    const owners = [
      { principal: 'acme/ann', tenant: 'acme' },
      { principal: 'acme/ann' },
      { principal: 'acme' },
      { principal: 'beta/eve', tenant: 'beta' },
    ];
    const found = await Promise.all(owners.map((owner) => cache.valuesOf(owner, [])));
    expect(found.map(({ workspaces }) => workspaces)).toEqual([
      ['/shared/acme'],
      ['/of/acme/ann'],
      ['/of/acme'],
      ['/shared/beta'],
    ]);
  });

  it('the values of a task that is new in the list appear at once', async () => {
    const { cache } = setUp();
    await cache.valuesOf({ principal: 'ann' }, []);
    const shown = [
      { workspace: '/a', model: 'offline' },
      { workspace: '/of/ann', model: null },
    ];
    expect(await cache.valuesOf({ principal: 'ann' }, shown)).toEqual({
      workspaces: ['/a', '/of/ann'],
      models: ['offline'],
    });
  });

  it('after a failure, the next reader searches again', async () => {
    const { cache, fail } = setUp();
    fail(new Error('the database is away'));
    await expect(cache.valuesOf({ principal: 'ann' }, [])).rejects.toThrow('the database is away');
    fail(undefined);
    expect(await cache.valuesOf({ principal: 'ann' }, [])).toMatchObject({ workspaces: ['/of/ann'] });
  });
});
