/** Reads for how long a person trusts later calls. An empty field sets no limit. Pure. */
import type { Decision } from '../../../shared/client/index.ts';

/** The fields as typed. */
export interface TrustLimits {
  minutes: string;
  uses: string;
}

export const NO_LIMITS: TrustLimits = { minutes: '', uses: '' };

type Grant = NonNullable<Extract<Decision, { decision: 'approve' }>['grant']>;

/** @returns undefined without a limit. @throws Error if a field is not a positive number, or the uses are not whole */
export function grantOf({ minutes, uses }: TrustLimits): Grant | undefined {
  const grant = {
    ...(minutes.trim() !== '' && { minutes: positive(minutes, 'minutes') }),
    ...(uses.trim() !== '' && { uses: positive(uses, 'calls') }),
  };
  if (grant.uses !== undefined && !Number.isInteger(grant.uses))
    throw new Error('The calls are a whole number.');
  return Object.keys(grant).length === 0 ? undefined : grant;
}

function positive(text: string, what: string): number {
  const number = Number(text);
  if (!(number > 0 && Number.isFinite(number))) throw new Error(`The ${what} are a number above 0.`);
  return number;
}
