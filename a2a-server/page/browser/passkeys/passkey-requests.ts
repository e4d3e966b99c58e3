/** Sends the page's requests about passkeys. */
import {
  startAuthentication,
  startRegistration,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser';
import * as z from 'zod/mini';
import type { Decision } from '../../../../shared/client/index.ts';
import { passkeyListSchema, type PasskeyList } from '../../../../shared/protocol/registered-passkey.ts';
import type { PresenceAssertion } from '../../../../shared/protocol/presence-assertion.ts';
import { fieldOf } from '../../../../shared/runtime/record.ts';
import { readJson, sendJson } from '../page-api.ts';

const requestOptionsSchema = z.object({
  challenge: z.string(),
  rpId: z.string(),
  allowCredentials: z.array(
    z.object({ id: z.string(), type: z.literal('public-key'), transports: z.array(z.string()) }),
  ),
  userVerification: z.literal('required'),
  timeout: z.number(),
});

/**
 * The schema of the options for a registration. The server's library creates these options, and the browser's library
 * of the same version reads them. So only `challenge` is checked here.
 */
const creationOptionsSchema = z.custom<PublicKeyCredentialCreationOptionsJSON>(
  (value) => typeof fieldOf(value, 'challenge') === 'string',
);

export interface PasskeyLinkTarget {
  taskId?: string;
  callId?: string;
}

/** @throws ClientError */
export function listPasskeys(): Promise<PasskeyList> {
  return readJson('/passkeys', passkeyListSchema);
}

/** The name of an event. The window gets it after the person has registered or removed a passkey on this page. */
const CHANGED = 'passkeys-changed';

/** Calls `act` after each change of the passkeys. Returns a function that removes the listener. */
export function onPasskeysChange(act: () => void): () => void {
  window.addEventListener(CHANGED, act);
  return () => window.removeEventListener(CHANGED, act);
}

/** Registers a passkey of this browser. @throws ClientError, or Error if the person does not confirm */
export async function registerPasskey(code: string, name: string): Promise<void> {
  const optionsJSON = creationOptionsSchema.parse(await sendJson('/passkeys/registration', { code }));
  const { id, rawId, type, response } = await withPasskeyErrors(startRegistration({ optionsJSON }));
  const { clientDataJSON, attestationObject, transports = [] } = response;
  await sendJson('/passkeys', {
    code,
    name,
    response: {
      id,
      rawId,
      type,
      clientExtensionResults: {},
      response: { clientDataJSON, attestationObject, transports },
    },
  });
  window.dispatchEvent(new Event(CHANGED));
}

export async function removePasskey(id: string): Promise<void> {
  await sendJson(`/passkeys/${encodeURIComponent(id)}`, undefined, 'DELETE');
  window.dispatchEvent(new Event(CHANGED));
}

/** Returns a one-time link to this page at the address where passkeys work. */
export async function createPasskeyLink(target: PasskeyLinkTarget): Promise<string> {
  return z.object({ url: z.string() }).parse(await sendJson('/passkeys/page-link', target)).url;
}

/** Asks the person to use a passkey for exactly this decision. @throws ClientError, or Error if the person refuses */
export async function assertPresence(taskId: string, decision: Decision): Promise<PresenceAssertion> {
  const options = requestOptionsSchema.parse(await sendJson('/passkeys/challenge', { taskId, decision }));
  const optionsJSON: PublicKeyCredentialRequestOptionsJSON = {
    ...options,
    allowCredentials: options.allowCredentials.map(({ id, type }) => ({ id, type })),
  };
  const { id, response } = await withPasskeyErrors(startAuthentication({ optionsJSON }));
  const { authenticatorData, clientDataJSON, signature } = response;
  return { id, authenticatorData, clientDataJSON, signature };
}

async function withPasskeyErrors<T>(ceremony: Promise<T>): Promise<T> {
  try {
    return await ceremony;
  } catch (error) {
    // WebAuthn gives the same error for a refusal, a timeout and a missing passkey.
    const why = error instanceof Error ? ` (${error.message})` : '';
    throw new Error(`The passkey was not used${why}. Nothing was decided. Try again.`, { cause: error });
  }
}
