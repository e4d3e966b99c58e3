import type { Decision } from '../../../../shared/client/index.ts';

/** The texts in the fields for the limits of a grant. An empty field sets no limit. */
export interface TrustLimitTexts {
  minutes: string;
  uses: string;
}

export const NO_TRUST_LIMITS: TrustLimitTexts = { minutes: '', uses: '' };

type TrustGrant = NonNullable<Extract<Decision, { decision: 'approve' }>['grant']>;

/**
 * Returns the limits of the grant, or undefined if there is no limit.
 * @throws Error if a field is not a positive number, or `uses` is not an integer
 */
export function grantFromForm({ minutes, uses }: TrustLimitTexts): TrustGrant | undefined {
  const grant = {
    ...(minutes.trim() !== '' && { minutes: parsePositiveNumber(minutes, 'minutes') }),
    ...(uses.trim() !== '' && { uses: parsePositiveNumber(uses, 'calls') }),
  };
  if (grant.uses !== undefined && !Number.isInteger(grant.uses))
    throw new Error('Enter the number of calls as a whole number, for example 3.');
  return Object.keys(grant).length === 0 ? undefined : grant;
}

function parsePositiveNumber(text: string, what: string): number {
  const number = Number(text);
  if (!(number > 0 && Number.isFinite(number)))
    throw new Error(`Enter the number of ${what} as a number above 0.`);
  return number;
}
