import { ClientError, type Decision, type Execution } from '../../../../shared/client/index.ts';
import { assertPresence } from './passkey-requests.ts';

interface DecisionsToSend {
  decisions: readonly Decision[];
  /** The ids of the tool calls that demand presence. */
  presenceCallIds: readonly string[];
}

/**
 * Sends decisions. Asks for the passkey first if a rule demands presence. The page cannot know whether an edited call
 * demands presence. So if the server refuses an edit without a passkey, the page asks for the passkey and sends the
 * edit again.
 */
export async function decideWithPasskey(
  to: Pick<Execution, 'decide'>,
  taskId: string,
  { decisions, presenceCallIds }: DecisionsToSend,
): Promise<void> {
  const sign = async (decision: Decision): Promise<Decision> => ({
    ...decision,
    presence: await assertPresence(taskId, decision),
  });
  const signed: Decision[] = [];
  for (const each of decisions) {
    const needs = presenceCallIds.includes(each.callId) && each.decision !== 'deny';
    signed.push(needs ? await sign(each) : each);
  }
  try {
    await to.decide(...signed);
  } catch (error) {
    const [only, ...others] = signed;
    const edits = only?.decision === 'edit' && only.presence === undefined && others.length === 0;
    if (!(error instanceof ClientError && error.reason === 'PRESENCE_REQUIRED' && edits)) throw error;
    await to.decide(await sign(only));
  }
}
