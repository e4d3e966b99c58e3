/**
 * Keeps the workspaces and models by which a reader can filter the task list. To find them, the database reads all
 * tasks of the reader's tenant. An open page reads its list again whenever a task changes. So without this cache, the
 * database would read all these tasks many times a second for a team.
 */
import type { GroupedTask } from '../../shared/protocol/task-groups.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { OwnerFilter, TaskFilterValues } from '../journal/journal.ts';

const KEPT_MS = 60_000;

interface FilterValueCacheParts {
  read: (owner: OwnerFilter) => Promise<TaskFilterValues>;
  clock: Pick<Clock, 'elapsed'>;
}

export class FilterValueCache {
  readonly #parts: FilterValueCacheParts;
  /** The values by owner, oldest first. */
  readonly #kept = new Map<string, { until: number; values: Promise<TaskFilterValues> }>();

  constructor(parts: FilterValueCacheParts) {
    this.#parts = parts;
  }

  /**
   * Returns the values of all tasks of the owner, at most a minute old, together with those of `shown`.
   * @param shown the listed tasks of this owner. They usually include the new tasks, whose values the cache may lack.
   * @throws ProductError STORAGE
   */
  async valuesOf(
    owner: OwnerFilter,
    shown: readonly Pick<GroupedTask, 'workspace' | 'model'>[],
  ): Promise<TaskFilterValues> {
    const { workspaces, models } = await this.#keptValues(owner);
    return {
      workspaces: sortedWith(
        workspaces,
        shown.map(({ workspace }) => workspace),
      ),
      models: sortedWith(
        models,
        shown.map(({ model }) => model),
      ),
    };
  }

  #keptValues(owner: OwnerFilter): Promise<TaskFilterValues> {
    const { read, clock } = this.#parts;
    const now = clock.elapsed();
    for (const [key, { until }] of this.#kept) if (until <= now) this.#kept.delete(key);
    // X1: only readers who see the same tasks share values.
    const { principal, tenant } = owner;
    const key = JSON.stringify(tenant === undefined ? { principal } : { tenant });
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept.values;
    const values = read(owner);
    const entry = { until: now + KEPT_MS, values };
    this.#kept.set(key, entry);
    values.catch(() => {
      if (this.#kept.get(key) === entry) this.#kept.delete(key);
    });
    return values;
  }
}

function sortedWith(kept: readonly string[], shown: readonly (string | null)[]): string[] {
  return [...new Set([...kept, ...shown.filter((value) => value !== null)])].toSorted();
}
