/**
 * Signs and checks the two documents of a receipt: JSON and Markdown. Each document contains its Ed25519 signature (RFC
 * 8032) and the public key. If any byte changes, the document becomes invalid.
 */
import { createHash, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { ProductError } from '../runtime/errors.ts';
import { presenceProofSchema, type PresenceProof } from '../presence/presence-proof.ts';
import { receiptSchema, type Receipt } from './receipt.ts';
import { assertProofsMatchDecisions, presenceProofsOf } from './receipt-presence.ts';
import { receiptMarkdown } from './receipt-markdown.ts';

/**
 * A signature and the public key that checks it. `publicKey` is the key in DER form (SubjectPublicKeyInfo) as base64.
 * `signature` is base64.
 */
interface PublicKeyAndSignature {
  publicKey: string;
  signature: string;
}

/** The contents of a document whose signature is valid. */
export interface CheckedReceipt {
  taskId: string;
  journal: Receipt['journal'];
  fingerprint: string;
  /** The passkey proofs. They are not checked yet; call `checkPresenceProofs`. */
  proofs: readonly PresenceProof[];
}

const MARKER = '\n<!-- receipt ';
const MARKER_END = ' -->\n';

const sealedJson = z.strictObject({ receipt: receiptSchema, publicKey: z.string(), signature: z.string() });
/**
 * Parses the document, and keeps its receipt exactly as the document contains it. `sealedJson` changes the order of the
 * fields.
 */
const writtenJson = z.strictObject({ receipt: z.unknown(), publicKey: z.string(), signature: z.string() });
const sealComment = z.strictObject({
  taskId: z.string(),
  events: z.number(),
  hash: z.string(),
  /**
   * The passkey proofs exactly as the document contains them, because `presenceProofSchema` changes the order of the
   * fields. Absent if there are none.
   */
  presence: z.array(z.unknown()).optional(),
  publicKey: z.string(),
  signature: z.string(),
});

export function sealReceiptJson(receipt: Receipt, privateKey: KeyObject): string {
  return jsonText(receipt, sealOf(bodyText(receipt), privateKey));
}

/**
 * Returns the signed Markdown. A comment after the text contains the task id, the hash chain and the passkey proofs.
 * With the hash chain, a reader can compare the document with the journal.
 */
export function sealReceiptMarkdown(receipt: Receipt, privateKey: KeyObject): string {
  const text = receiptMarkdown(receipt);
  const presence = presenceProofsOf(receipt);
  const named = {
    taskId: receipt.task.taskId,
    ...receipt.journal,
    ...(presence.length > 0 && { presence }),
  };
  return markdownText(text, named, sealOf(signedTextOf(text, named), privateKey));
}

/**
 * Checks the signature in a document with the key in the document. The caller must check that the key belongs to a
 * known server.
 * @throws ProductError MALFORMED if the text is not a receipt or has changed
 */
export function checkSealedReceipt(text: string): CheckedReceipt {
  return text.startsWith('{') ? checkJson(text) : checkMarkdown(text);
}

/**
 * Returns the fingerprint of a public key, in the form of an OpenSSH fingerprint: `SHA256:` and the base64 of the hash.
 */
export function publicKeyFingerprint(publicKey: KeyObject): string {
  const hash = createHash('sha256').update(derOf(publicKey)).digest('base64').replace(/=+$/, '');
  return `SHA256:${hash}`;
}

function checkJson(text: string): CheckedReceipt {
  let written, parsed;
  try {
    const document: unknown = JSON.parse(text);
    parsed = sealedJson.parse(document).receipt;
    written = writtenJson.parse(document);
  } catch (error) {
    throw new ProductError('MALFORMED', 'This is no receipt of a2a-server, or it has changed.', {
      cause: error,
    });
  }
  const { receipt, ...seal } = written;
  // The document must be exactly the text that the server would write. Otherwise an added space or a repeated field
  // would not be noticed.
  if (jsonText(receipt, seal) !== text) throw receiptChangedError();
  const { task, journal } = parsed;
  const proofs = presenceProofsOf(parsed);
  const facts = checkSignature(bodyText(receipt), seal, { taskId: task.taskId, journal, proofs });
  assertProofsMatchDecisions(parsed);
  return facts;
}

function checkMarkdown(text: string): CheckedReceipt {
  const at = text.lastIndexOf(MARKER);
  if (at === -1 || !text.endsWith(MARKER_END))
    throw new ProductError(
      'MALFORMED',
      'This is no receipt of a2a-server: its last line is not the signature. Check the whole file.',
    );
  let seal, proofs;
  try {
    seal = sealComment.parse(JSON.parse(text.slice(at + MARKER.length, -MARKER_END.length)));
    proofs = z.array(presenceProofSchema).parse(seal.presence ?? []);
  } catch {
    throw receiptChangedError();
  }
  const { publicKey, signature, ...named } = seal;
  const body = text.slice(0, at);
  if (markdownText(body, named, { publicKey, signature }) !== text) throw receiptChangedError();
  const { taskId, events, hash } = named;
  return checkSignature(
    signedTextOf(body, named),
    { publicKey, signature },
    {
      taskId,
      journal: { events, hash },
      proofs,
    },
  );
}

function checkSignature(
  body: string,
  { publicKey, signature }: PublicKeyAndSignature,
  facts: Omit<CheckedReceipt, 'fingerprint'>,
): CheckedReceipt {
  let key: KeyObject;
  try {
    key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' });
  } catch {
    throw receiptChangedError();
  }
  const bytes = Buffer.from(signature, 'base64');
  // Several base64 texts can mean the same bytes. Only the text that the server writes is accepted.
  const exact = bytes.toString('base64') === signature && derOf(key).toString('base64') === publicKey;
  if (!exact || key.asymmetricKeyType !== 'ed25519' || !verify(null, Buffer.from(body), key, bytes))
    throw receiptChangedError();
  return { ...facts, fingerprint: publicKeyFingerprint(key) };
}

function sealOf(body: string, privateKey: KeyObject): PublicKeyAndSignature {
  return {
    publicKey: derOf(createPublicKey(privateKey)).toString('base64'),
    signature: sign(null, Buffer.from(body), privateKey).toString('base64'),
  };
}

function derOf(publicKey: KeyObject): Buffer {
  return publicKey.export({ format: 'der', type: 'spki' });
}

type SignedFacts = { taskId: string; presence?: readonly unknown[] | undefined } & Receipt['journal'];

const bodyText = (receipt: unknown): string => JSON.stringify(receipt);
const jsonText = (receipt: unknown, seal: PublicKeyAndSignature): string =>
  `${JSON.stringify({ receipt, publicKey: seal.publicKey, signature: seal.signature }, null, 2)}\n`;
const signedTextOf = (text: string, { taskId, events, hash, presence }: SignedFacts): string =>
  `${text}\0${JSON.stringify([taskId, events, hash, ...(presence === undefined ? [] : [presence])])}`;
function markdownText(
  text: string,
  { taskId, events, hash, presence }: SignedFacts,
  { publicKey, signature }: PublicKeyAndSignature,
): string {
  const comment = { taskId, events, hash, ...(presence && { presence }), publicKey, signature };
  // The name of a passkey could contain `-->`. It must not end the comment.
  return `${text}${MARKER}${JSON.stringify(comment).replaceAll('>', String.raw`\u003e`)}${MARKER_END}`;
}

function receiptChangedError(): ProductError {
  return new ProductError('MALFORMED', 'The receipt has changed after the server signed it.');
}
