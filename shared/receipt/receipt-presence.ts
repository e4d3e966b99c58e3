/**
 * Checks the passkey proofs in a receipt without the server. A receipt is invalid in three cases: a proof is invalid, a
 * proof belongs to another decision, or an approval lacks the proof that a rule demanded.
 */
import { ProductError } from '../runtime/errors.ts';
import { proofProblem } from '../presence/check-presence-proof.ts';
import { passkeyFingerprint, type PresenceProof } from '../presence/presence-proof.ts';
import { inputHash } from '../protocol/shown-code.ts';
import type { Receipt, ReceiptAction } from './receipt.ts';

type ReceiptDecision = ReceiptAction['decisions'][number];

/** One decision that a person made with a passkey. */
export interface ProvenPresence {
  callId: string;
  decision: 'approve' | 'edit';
  /** The name that the person gave the passkey. */
  passkey: string;
  /** The fingerprint of the passkey: `SHA256:` and the base64 of the public key's hash. */
  fingerprint: string;
  rpId: string;
  /** The time in RFC 3339 at which the person registered the passkey. */
  registeredAt: string;
}

export function presenceProofsOf({ actions }: Pick<Receipt, 'actions'>): PresenceProof[] {
  return actions.flatMap(({ decisions }) => decisions.flatMap(({ presence }) => presence ?? []));
}

/**
 * Compares the passkey proofs with the decisions of the receipt.
 * @throws ProductError MALFORMED if a proof belongs to another decision, or is missing
 */
export function assertProofsMatchDecisions({ task, actions }: Pick<Receipt, 'task' | 'actions'>): void {
  for (const action of actions)
    for (const decision of action.decisions) {
      const problem = mismatchText(task.taskId, action, decision);
      if (problem !== undefined)
        throw new ProductError('MALFORMED', `The receipt is not valid: call ${action.callId} ${problem}.`);
    }
}

function mismatchText(taskId: string, action: ReceiptAction, decision: ReceiptDecision): string | undefined {
  const { callId, tool } = action;
  const { presence, edited } = decision;
  if (presence === undefined) return isMissing(action, decision) ? 'has no passkey proof' : undefined;
  const { statement } = presence;
  const same =
    statement.taskId === taskId &&
    statement.callId === callId &&
    statement.tool === tool &&
    statement.shown === decision.shown &&
    statement.decision === decision.decision &&
    statement.inputHash === decision.inputHash &&
    statement.reason === decision.reason &&
    statement.edited?.inputHash === edited?.inputHash;
  if (!same) return 'has a passkey proof of another decision';
  if (edited !== null && inputHash(edited.input) !== edited.inputHash) return 'has a changed input';
  // After an edit, a later question may be about the edited input. So the decision may match the original input or any
  // edited input.
  const inputs = [
    action.input,
    ...action.decisions.flatMap((each) => (each.edited === null ? [] : [each.edited.input])),
  ];
  return inputs.some((input) => inputHash(input) === decision.inputHash) ? undefined : 'has a changed input';
}

function isMissing({ questions }: ReceiptAction, { decision, shown }: ReceiptDecision): boolean {
  const approves = decision === 'approve' || decision === 'edit';
  return approves && questions.some((each) => each.presence === true && each.shown === shown);
}

/**
 * Checks each assertion against the public key of its passkey.
 * @throws ProductError MALFORMED for a proof that is not valid, that occurs twice, or that belongs to another task
 */
export async function checkPresenceProofs(
  taskId: string,
  proofs: readonly PresenceProof[],
): Promise<ProvenPresence[]> {
  const proven: ProvenPresence[] = [];
  // The nonces of the proofs that were checked so far. The server accepts each nonce once. So if a nonce occurs twice,
  // one of the proofs is a copy.
  const nonces = new Set<string>();
  for (const proof of proofs) {
    const { statement, passkey, rpId } = proof;
    const { callId, decision } = statement;
    const problem =
      statement.taskId !== taskId
        ? 'it belongs to another task'
        : nonces.has(statement.nonce)
          ? 'the receipt contains it twice'
          : await proofProblem(proof);
    nonces.add(statement.nonce);
    if (problem !== undefined)
      throw new ProductError(
        'MALFORMED',
        `The receipt is not valid: the passkey proof of call ${callId} fails: ${problem}.`,
      );
    const { name, publicKey, registeredAt } = passkey;
    const fingerprint = passkeyFingerprint(publicKey);
    proven.push({ callId, decision, passkey: name, fingerprint, rpId, registeredAt });
  }
  return proven;
}
