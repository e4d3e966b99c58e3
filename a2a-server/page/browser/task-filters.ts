/**
 * Reads and writes the filters of the task list. They are in the fragment of the address, so Back and reload keep them.
 * Pure.
 */

const NAMES = ['text', 'state', 'workspace', 'model'] as const;

export type TaskFilters = Readonly<Record<(typeof NAMES)[number], string>>;

/** The filters when all of them are off. '' means that a filter is off. */
export const NO_FILTERS: TaskFilters = { text: '', state: '', workspace: '', model: '' };

export function filtersInFragment(fragment: URLSearchParams): TaskFilters {
  const filters = { ...NO_FILTERS };
  for (const name of NAMES) filters[name] = fragment.get(name) ?? '';
  return filters;
}

/** Returns the parameters of the filters that are on. */
export function filterParameters(filters: TaskFilters): URLSearchParams {
  return new URLSearchParams(
    NAMES.flatMap((name): [string, string][] => (filters[name].trim() === '' ? [] : [[name, filters[name]]])),
  );
}

export function areFiltersOn(filters: TaskFilters): boolean {
  return filterParameters(filters).size > 0;
}
