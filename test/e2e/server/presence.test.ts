/** Tests rules that demand presence, with real servers, the real command line, and a passkey in software. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { receiptSchema } from '../../../shared/receipt/receipt.ts';
import { sealReceiptJson, sealReceiptMarkdown } from '../../../shared/receipt/seal.ts';
import { A2aPeer } from '../../support/a2a-peer.ts';
import { actionOf, decisionOn } from '../../support/a2a-message.ts';
import { issueToken, tokenCommand } from '../../support/issue-token.ts';
import { plan, write } from '../../support/offline-plan.ts';
import { addPasskeyWords, passkeyLink, PersonAtPage, stageWithRules } from '../../support/presence-stage.ts';
import { makeLink } from '../../integration/web/support/sign-in.ts';
import { cliStageOf } from '../cli/support/cli-stage.ts';

const RULE = { action: 'presence', path: 'secret.txt' };
const HAS_IPV6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
);
const tokenList = z.object({ tokens: z.array(z.object({ id: z.string() })) });
const REFUSED = { reason: 'PRESENCE_REQUIRED' };

describe('a rule that demands presence', () => {
  it('R120 away from a terminal, and with a bearer token alone, nobody gets a link that registers a passkey', async () => {
    const on = await stageWithRules(RULE);
    const { stateDir, url, token } = on.server;
    const env = { PATH: process.env['PATH'], HOME: stateDir };
    const run = promisify(execFile)(process.execPath, addPasskeyWords(stateDir), { env });
    await expect(run).rejects.toMatchObject({ stdout: '', stderr: expect.stringContaining('in a terminal') });
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    for (const path of ['/page/api/passkeys/registration', '/passkeys/registration']) {
      const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: '{"code":"x"}' });
      expect([401, 403, 404]).toContain(answer.status);
    }
    // A one-time link of the page signs in, but registers no passkey.
    const person = await PersonAtPage.signIn(
      new URL((await makeLink(on.server)).replace('127.0.0.1', 'localhost')),
    );
    await expect(person.post('/passkeys/registration', { code: 'x' })).rejects.toThrow(
      /HTTP 403.*passkey add/,
    );
  });

  (HAS_IPV6 ? it : it.skip)(
    'R120 while another program listens on ::1 with the port of the server, no link to localhost is made',
    async () => {
      const on = await stageWithRules(RULE);
      const person = await PersonAtPage.register(on);
      const other = createServer();
      other.listen({ host: '::1', port: Number(new URL(on.server.url).port) });
      try {
        await once(other, 'listening');
        await expect(passkeyLink(on)).rejects.toMatchObject({
          stdout: expect.stringContaining('Another program listens on [::1]'),
        });
      } finally {
        other.close();
      }
      const link = await person.post('/passkeys/page-link', {});
      expect(JSON.stringify(link)).toContain('http://localhost:');
    },
  );

  it('R120 no decision of a client approves: approve, edit, a grant, a plain word, the command line; a denial counts', async () => {
    const on = cliStageOf(await stageWithRules(RULE));
    const { taskId, pending } = await on.peer.send(
      plan({ together: [write('open.txt', 'a'), write('secret.txt', 'b')] }, { say: 'done' }),
    );
    const secret = pending.filter(({ title }) => title.includes('secret.txt'));
    expect(secret).toMatchObject([
      { presence: true, rule: expect.stringContaining('presence'), scopes: ['once'] },
    ]);
    const open = pending.filter(({ title }) => title.includes('open.txt'));
    // An "always" on another call covers no call that demands presence.
    await on.peer.decide(taskId, [{ ...decisionOn(open, 'approve'), scope: 'always' }]);
    for (const decision of [
      decisionOn(secret, 'approve'),
      { ...decisionOn(secret, 'approve'), scope: 'always' },
      { ...decisionOn(secret, 'edit'), content: 'c' },
      {
        ...decisionOn(secret, 'approve'),
        presence: { id: 'a', authenticatorData: 'a', clientDataJSON: 'a', signature: 'a' },
      },
    ])
      await expect(on.peer.decide(taskId, [decision])).rejects.toMatchObject(REFUSED);
    const { code, stderr } = await on.run('approve', actionOf(secret).shown);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/passkey.*presence.*http:\/\/localhost:\d+\/page#task=/s);
    for (const words of [
      ['approve', taskId],
      ['edit', actionOf(secret).shown, '--yes', '--file', 'absent.txt'],
    ])
      expect(await on.run(...words)).toMatchObject({
        code: 4,
        stderr: expect.stringContaining('Approve it on the page: mcp-a2a-bridge page. Nothing was decided.'),
      });
    expect(await on.file('secret.txt')).toBeUndefined();
    expect((await on.run('deny', actionOf(secret).shown)).code).toBe(0);
    expect(await on.file('secret.txt')).toBeUndefined();
  });

  it('R120 an edit into a file that demands presence needs the passkey', async () => {
    const on = await stageWithRules(RULE);
    const person = await PersonAtPage.register(on);
    const { taskId, pending } = await on.peer.send(plan(write('open.txt', 'a'), { say: 'done' }));
    const edit = { ...decisionOn(pending, 'edit'), input: { path: 'secret.txt', content: 'b' } };
    await expect(on.peer.decide(taskId, [edit])).rejects.toMatchObject(REFUSED);
    // The assertion is about this edit, and about no other content.
    const signed = await person.signed(taskId, edit);
    const other = { ...signed, input: { path: 'secret.txt', content: 'c' } };
    await expect(on.peer.decide(taskId, [other])).rejects.toMatchObject({ reason: 'INPUT_CHANGED' });
    expect(await on.file('secret.txt')).toBeUndefined();
    await (await on.peer.decide(taskId, [await person.signed(taskId, edit)])).rest();
    expect(await on.file('secret.txt')).toBe('b');
  });

  it('R120 a person with an issued token registers a passkey and approves, until the token is revoked', async () => {
    const on = await stageWithRules(RULE);
    const { url } = on.server;
    await issueToken(on.server, 'ann', '--role', 'delegate');
    await expect(passkeyLink(on, 'acme/ann')).rejects.toMatchObject({
      stdout: expect.stringContaining('that has the role approve'),
    });
    const peer = new A2aPeer({ url, token: await issueToken(on.server, 'ann') });
    const person = await PersonAtPage.register(on, 'laptop', 'acme/ann');
    const { taskId, pending } = await peer.send(plan(write('secret.txt', 'b'), { say: 'done' }));
    const decision = decisionOn(pending, 'approve');
    await expect(peer.decide(taskId, [decision])).rejects.toMatchObject(REFUSED);
    await (await peer.decide(taskId, [await person.signed(taskId, decision)])).rest();
    expect(await on.file('secret.txt')).toBe('b');

    const { tokens } = tokenList.parse(JSON.parse(await tokenCommand(on.server, 'list', '--json')));
    for (const { id } of tokens) await tokenCommand(on.server, 'revoke', id);
    await expect(person.signed(taskId, decision)).rejects.toThrow('HTTP 401');
    await expect(passkeyLink(on, 'acme/ann')).rejects.toMatchObject({
      stdout: expect.stringContaining('There is no user "acme/ann" who can register a passkey'),
    });
  });

  it('R120 with a passkey the call runs once, and verify-receipt checks the assertion and finds each forgery', async () => {
    const on = cliStageOf(await stageWithRules(RULE));
    const person = await PersonAtPage.register(on, 'my "laptop" -->');
    const { taskId, sessionId, pending } = await on.peer.send(
      plan(write('secret.txt', 'b'), { say: 'done' }),
    );
    const decision = await person.signed(taskId, decisionOn(pending, 'approve'));
    await (await on.peer.decide(taskId, [decision])).rest();
    expect(await on.file('secret.txt')).toBe('b');
    await expect(on.peer.decide(taskId, [decision])).rejects.toMatchObject(REFUSED);

    const out = join(on.server.workspace, 'receipts');
    expect((await on.run('receipt', sessionId, '--out', out)).code).toBe(0);
    for (const file of await readdir(out)) {
      const verified = await on.run('verify-receipt', join(out, file));
      expect(verified).toMatchObject({ code: 0, stderr: '' });
      expect(verified.stdout).toMatch(
        /passkey "my "laptop" -->" \(SHA256:\S+, registered .*"approve".*localhost/,
      );
    }

    // The owner of a server's key can sign a changed receipt, but cannot make the assertion of the passkey.
    const [json = ''] = (await readdir(out)).filter((file) => file.endsWith('.json'));
    const text = await readFile(join(out, json), 'utf8');
    const { receipt } = z.object({ receipt: receiptSchema }).parse(JSON.parse(text));
    const { privateKey } = generateKeyPairSync('ed25519');
    const forged = join(out, 'forged');
    const verify = async (document: string): Promise<string> => {
      await writeFile(forged, document);
      const { code, stderr } = await on.run('verify-receipt', forged);
      expect(code).not.toBe(0);
      return stderr;
    };
    const changed = (change: (copy: typeof receipt) => void): typeof receipt => {
      const copy = structuredClone(receipt);
      change(copy);
      return copy;
    };
    const forgeries: [(copy: typeof receipt) => void, RegExp][] = [
      [
        ({ actions: [action] }) => void (action && (action.input = { path: 'secret.txt', content: 'x' })),
        /changed input/,
      ],
      [
        ({ actions: [action] }) => void (action?.decisions[0] && delete action.decisions[0].presence),
        /no passkey proof/,
      ],
      [
        ({ actions: [action] }) => void (action?.decisions[0] && (action.decisions[0].inputHash = 'x')),
        /another decision/,
      ],
      [
        ({ actions: [action] }) => {
          const proof = action?.decisions[0]?.presence;
          if (proof) proof.statement.nonce = 'x';
        },
        /challenge/,
      ],
    ];
    for (const [change, problem] of forgeries)
      expect(await verify(sealReceiptJson(changed(change), privateKey))).toMatch(problem);
    const nonce = changed(({ actions: [action] }) => {
      const proof = action?.decisions[0]?.presence;
      if (proof) proof.statement.nonce = 'x';
    });
    expect(await verify(sealReceiptMarkdown(nonce, privateKey))).toMatch(/challenge/);
  });
});
