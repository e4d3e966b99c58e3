/**
 * Reads and writes the filters of the task list. They are in the fragment of the address, so Back and reload keep them.
 * Pure.
 */

const NAMES = ['text', 'state', 'workspace', 'model'] as const;

export type PageTaskFilters = Readonly<Record<(typeof NAMES)[number], string>>;

/** The filters when all of them are off. '' means that a filter is off. */
export const NO_FILTERS: PageTaskFilters = { text: '', state: '', workspace: '', model: '' };

export function filtersFromFragment(fragment: URLSearchParams): PageTaskFilters {
  const filters = { ...NO_FILTERS };
  for (const name of NAMES) filters[name] = fragment.get(name) ?? '';
  return filters;
}

/** Returns the parameters of the filters that are on. */
export function filterParameters(filters: PageTaskFilters): URLSearchParams {
  return new URLSearchParams(
    NAMES.flatMap((name): [string, string][] => (filters[name].trim() === '' ? [] : [[name, filters[name]]])),
  );
}

export function areFiltersOn(filters: PageTaskFilters): boolean {
  return filterParameters(filters).size > 0;
}
