import { describe, expect, it } from '@jest/globals';
import {
  grantFromForm,
  NO_TRUST_LIMITS,
} from '../../../../../../a2a-server/page/browser/action/trust-limits.ts';

describe('the limits of trust that a person types on the page', () => {
  it('the limits are the typed minutes and the number of later calls', () => {
    expect(grantFromForm({ minutes: '10', uses: '' })).toEqual({ minutes: 10 });
    expect(grantFromForm({ minutes: ' 1.5 ', uses: '3' })).toEqual({ minutes: 1.5, uses: 3 });
    expect(grantFromForm(NO_TRUST_LIMITS)).toBeUndefined();
  });

  it.each([
    { minutes: '0', uses: '' },
    { minutes: '-1', uses: '' },
    { minutes: 'ten', uses: '' },
    { minutes: '', uses: '1.5' },
    { minutes: '', uses: '0' },
  ])('D1 invalid limits give no trust: %j', (limits) => {
    expect(() => grantFromForm(limits)).toThrow(/number/);
  });
});
