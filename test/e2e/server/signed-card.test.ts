/** Tests signed agent cards (A2A 1.0 §8.4): a real server signs, and agents of the bridge check. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { AgentCard } from '@a2a-js/sdk';
import { FlattenedSign } from 'jose';
import { generateKeyPairSync } from 'node:crypto';
import { chmod, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import type { Agent } from '../../../bridge/agents/agent.ts';
import { agentSettingsSchema } from '../../../bridge/settings/settings.ts';
import { createConfiguredAgent } from '../../../bridge/startup/configured-agents.ts';
import { agentCard } from '../../../a2a-server/http/routes/agent-card.ts';
import { signCard } from '../../../shared/card/card-signature.ts';
import { listenOnLoopback, type LoopbackAddress } from '../../support/listen-on-loopback.ts';
import { stage } from '../../support/stage.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const listening: LoopbackAddress[] = [];
afterEach(async () => {
  for (const each of listening.splice(0)) await each.close();
});

/** Makes a key pair, with files of both keys. */
async function keyFiles() {
  const pair = generateKeyPairSync('ed25519');
  const directory = await temporaryDirectory();
  const [secret, open] = [join(directory, 'card-key.pem'), join(directory, 'card-key.pub')];
  await writeFile(secret, pair.privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 });
  await writeFile(open, pair.publicKey.export({ format: 'pem', type: 'spki' }));
  return { ...pair, secret, open };
}

function agentAt(url: string, cardKeys: readonly string[], token = ''): Agent {
  const settings = agentSettingsSchema.parse({
    url,
    cardKeys,
    headers: { authorization: `Bearer ${token}` },
  });
  return createConfiguredAgent('team', settings, {});
}

/** Starts an agent that sends this JSON for each request. */
async function agentWithCard(card: (url: string) => Promise<unknown>) {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    void card(url).then((json) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify(json)),
    );
  });
  const address = await listenOnLoopback(server);
  listening.push(address);
  const url = `http://${address.host}`;
  return { url, paths };
}

const jsonCard = async (url: string, key?: Parameters<typeof signCard>[1]): Promise<object> => {
  const card = agentCard(url, '1');
  return Object(AgentCard.toJSON(key === undefined ? card : await signCard(card, key)));
};

describe('signed agent cards', () => {
  it('the server signs its card, and the bridge uses the agent with the public key only', async () => {
    const [ours, other] = [await keyFiles(), await keyFiles()];
    const { server } = await stage({ args: ['--card-key', ours.secret] });
    const { facts } = await agentAt(server.url, [other.open, ours.open], server.token).connect();
    expect(facts.interfaces[0]?.url).toBe(server.url);
    const wrong = agentAt(server.url, [other.open], server.token);
    await expect(wrong.ask((connection) => connection.list({}, 1))).rejects.toThrow(
      /"team" is not used: none of the keys in its "cardKeys" has signed/,
    );
    // The signature covers the form of A2A 1.0.
    const headers = { 'a2a-version': '0.3' };
    const response = await fetch(new URL('/.well-known/agent-card.json', server.url), { headers });
    const old: unknown = await response.json();
    expect(old).toMatchObject({ protocolVersion: '0.3' });
    expect(old).not.toHaveProperty('signatures');
  });

  it('an agent without a trusted signature gets no request but for the card, and `jku` is not fetched', async () => {
    const [ours, attacker] = [await keyFiles(), await keyFiles()];
    const jwks = await agentWithCard(() =>
      Promise.resolve({ keys: [{ ...attacker.publicKey.export({ format: 'jwk' }), kid: 'a' }] }),
    );
    const cards = [
      (url: string) => jsonCard(url),
      (url: string) => jsonCard(url, attacker.privateKey),
      // A signed card of another agent, with this agent's address.
      async (url: string) => ({
        ...(await jsonCard('https://agent.example.com', ours.privateKey)),
        supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      }),
      async (url: string) => {
        const { protected: header, signature } = await new FlattenedSign(Buffer.from('{}'))
          .setProtectedHeader({ alg: 'EdDSA', typ: 'JOSE', kid: 'a', jku: jwks.url })
          .sign(attacker.privateKey);
        return { ...(await jsonCard(url)), signatures: [{ protected: header, signature }] };
      },
      // The card of A2A 0.3 has its interface in other fields, which no signature covers.
      async (url: string) => ({ ...(await jsonCard(url)), protocolVersion: '0.3.0', url }),
      () => Promise.resolve(null),
    ];
    for (const card of cards) {
      const agent = await agentWithCard(card);
      await expect(
        agentAt(agent.url, [ours.open]).ask((connection) => connection.task('t')),
      ).rejects.toMatchObject({ reason: 'AGENT_ERROR', facts: { card: 'not-trusted' } });
      expect(agent.paths).toEqual(['/.well-known/agent-card.json']);
    }
    expect(jwks.paths).toEqual([]);
  });

  it('a replaced key file is used by the next connection; a file without a key is named', async () => {
    const [old, fresh] = [await keyFiles(), await keyFiles()];
    const { url } = await agentWithCard((at) => jsonCard(at, fresh.privateKey));
    const agent = agentAt(url, [old.open]);
    await expect(agent.ask((connection) => Promise.resolve(connection.url))).rejects.toThrow('not used');
    await writeFile(old.open, fresh.publicKey.export({ format: 'pem', type: 'spki' }));
    expect(await agent.ask((connection) => Promise.resolve(connection.url))).toBe(url);
    await writeFile(old.open, 'no key');
    await expect(agentAt(url, [old.open]).connect()).rejects.toMatchObject({
      reason: 'CONFIGURATION',
      message: expect.stringContaining(old.open),
    });
  });

  it('a server does not start with a key that others can read, or with a file that is no key', async () => {
    const { secret, open } = await keyFiles();
    await chmod(secret, 0o644);
    await expect(stage({ args: ['--card-key', secret] })).rejects.toThrow(/chmod 600/);
    await chmod(open, 0o600);
    await expect(stage({ args: ['--card-key', open] })).rejects.toThrow(/--card-key .* cannot be used/);
  });
});
