/** A server with a program that may only delegate, and a person of the same tenant who may approve. */
import { A2aPeer } from './a2a-peer.ts';
import { issueToken } from './issue-token.ts';
import { stage, type Stage } from './stage.ts';

/** What each user interface tells the program that may only delegate, about an action that waits. */
export const NEEDS_ROLE =
  'Needs the decision of somebody with the role approve, in the tenant acme; your token has only delegate.';

export interface DelegatorStage {
  on: Stage;
  delegator: { token: string; peer: A2aPeer };
  approver: { token: string; peer: A2aPeer };
}

export async function delegatorStage(): Promise<DelegatorStage> {
  const on = await stage();
  const { url } = on.server;
  const of = (token: string) => ({ token, peer: new A2aPeer({ url, token }) });
  const delegator = of(await issueToken(on.server, 'ci', '--role', 'delegate'));
  return { on, delegator, approver: of(await issueToken(on.server, 'ann')) };
}
