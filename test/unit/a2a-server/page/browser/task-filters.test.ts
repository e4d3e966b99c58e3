import { expect, it } from '@jest/globals';
import {
  areFiltersOn,
  filterParameters,
  filtersFromFragment,
  NO_FILTERS,
} from '../../../../../a2a-server/page/browser/task-filters.ts';

it('filters survive a round trip through the address, and filters that are off are not in it', () => {
  const filters = { text: 'a&b=c #', state: 'waiting', workspace: '/work/ü', model: '' };
  const parameters = filterParameters(filters);
  expect(parameters.has('model')).toBe(false);
  expect(filtersFromFragment(new URLSearchParams(parameters.toString()))).toEqual(filters);
});

it('blank text filters nothing', () => {
  expect(areFiltersOn(NO_FILTERS)).toBe(false);
  expect(areFiltersOn({ ...NO_FILTERS, text: ' ' })).toBe(false);
  expect(areFiltersOn({ ...NO_FILTERS, model: 'fast' })).toBe(true);
});
