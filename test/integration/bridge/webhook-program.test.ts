import { beforeEach, describe, expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { append, plan } from '../../support/offline-plan.ts';
import { signal } from '../../support/signal.ts';
import { stage, type Stage } from '../../support/stage.ts';
import { asJson, WebhookReceiver } from '../../support/webhook-receiver.ts';
import {
  DECIDE,
  DELEGATE,
  WAIT,
  closeAfterTest,
  startClient,
  stateDirectory,
} from './support/bridge-stage.ts';
import { type RawClient, textOf, type ToolResult, sessionOf } from './support/raw-client.ts';

const SECRET = 'SECRET_OF_THE_RECEIVER';

const idsIn = (result: ToolResult): { sessionId: string; callId: string; shown: string } => {
  const [, callId = '', shown = ''] = /callId (call-[\w-]+), shown (\w+)/.exec(textOf(result)) ?? [];
  return { sessionId: sessionOf(result), callId, shown };
};

const waited = (client: RawClient, sessionId: string): Promise<ToolResult> =>
  client.call(WAIT, { sessionId });

describe('the bridge with an approval webhook and the real server', () => {
  let whole: Stage;
  let receiver: WebhookReceiver;
  beforeEach(async () => {
    whole = await stage();
  });
  async function directory(webhook: object): Promise<string> {
    receiver = await WebhookReceiver.start();
    closeAfterTest(() => receiver.stop());
    const stateDir = await stateDirectory();
    const approvalWebhook = { url: receiver.url, secretEnv: SECRET, ...webhook };
    await writeFile(join(stateDir, 'config.json'), JSON.stringify({ bridge: { approvalWebhook } }));
    return stateDir;
  }

  async function bridgeAt(stateDir: string, args: readonly string[] = []): Promise<RawClient> {
    return startClient(whole.server, {
      stateDir,
      args: ['--log-level', 'info', ...args],
      env: { [SECRET]: receiver.secret, HOOK_TOKEN: 'token-of-the-hook' },
    });
  }

  const delegated = (client: RawClient, file: string): Promise<ToolResult> =>
    client.call(DELEGATE, {
      task: plan(append(file, 'hello\n'), { say: 'Done.' }),
      workspace: whole.server.workspace,
    });
  test('R01 D1 the webhook’s answer to a post approves: the file is written once, and the webhook receives the channel of the decision', async () => {
    const stateDir = await directory({ afterSeconds: 0, tokenEnv: 'HOOK_TOKEN', headers: { 'x-team': 'a' } });
    receiver.answering = ({ type, data }) => {
      const [action] = Array.isArray(data['pending']) ? data['pending'] : [];
      return type === 'approval.asked'
        ? asJson({ decisions: [{ callId: action.callId, shown: action.shown, decision: 'approve' }] })
        : undefined;
    };
    const client = await bridgeAt(stateDir);
    const { sessionId, callId } = idsIn(await delegated(client, 'posted.md'));
    const told = await receiver.got('approval.decided');
    expect(told.data).toMatchObject({
      sessionId,
      agent: 'agent',
      decided: [{ callId, decision: 'approve', by: 'local', channel: 'webhook' }],
    });
    const done = await waited(client, sessionId);
    expect(done.structuredContent).toMatchObject({ state: 'completed' });
    expect(await whole.file('posted.md')).toBe('hello\n');
    const [asked] = receiver.of('approval.asked');
    expect(asked?.genuine).toBe(true);
    expect(asked?.headers).toMatchObject({ authorization: 'Bearer token-of-the-hook', 'x-team': 'a' });
    expect(asked?.data).toMatchObject({ pending: [{ preview: expect.stringContaining('+hello') }] });
  });

  test('R08 D1 if the webhook approves while the tool denies, one decision counts, and the other is refused or ignored', async () => {
    const stateDir = await directory({ afterSeconds: 0 });
    const client = await bridgeAt(stateDir);
    const ready = signal();
    receiver.answering = async ({ type }) => {
      if (type !== 'approval.asked') return undefined;
      await ready.happened;
      return asJson({ decisions: [{ callId: ids.callId, shown: ids.shown, decision: 'approve' }] });
    };
    const ids = idsIn(await delegated(client, 'raced.md'));
    await receiver.got('approval.asked');
    const denying = client.call(DECIDE, { ...ids, decision: 'deny' });
    ready.happen();
    const denied = await denying;
    const { data } = await receiver.got('approval.decided');
    const [outcome] = Array.isArray(data['decided']) ? data['decided'] : [];
    expect([
      ['deny', 'tool'],
      ['approve', 'webhook'],
    ]).toContainEqual([outcome.decision, outcome.channel]);
    await waited(client, ids.sessionId);
    expect(await whole.file('raced.md')).toBe(outcome.decision === 'deny' ? undefined : 'hello\n');
    expect(denied.isError === true).toBe(outcome.decision === 'approve');
    if (denied.isError === true) expect(textOf(denied)).toMatch(/was decided before: approve/);
  });

  test('B3 after a kill of the bridge, the next bridge does not post the question again, and posts the decision', async () => {
    const stateDir = await directory({ afterSeconds: 0 });
    const first = await bridgeAt(stateDir);
    const ids = idsIn(await delegated(first, 'outlived.md'));
    await first.logged(/pending actions were posted to the webhook/);
    await first.kill();
    const next = await bridgeAt(stateDir);
    expect((await waited(next, ids.sessionId)).structuredContent).toMatchObject({ state: 'input_required' });
    // Another client decides. It has its own state directory.
    const elsewhere = await stateDirectory();
    const other = await bridgeAt(elsewhere);
    await other.call(DECIDE, { ...ids, decision: 'approve' });
    expect((await receiver.got('approval.decided')).data).toMatchObject({
      decided: [{ callId: ids.callId, decision: 'approve', channel: 'tool' }],
    });
    expect(receiver.of('approval.asked')).toHaveLength(1);
    expect(await whole.file('outlived.md')).toBe('hello\n');
  });

  test('R67 with human-only and a client without forms, the bridge posts at once, and the webhook’s answer decides', async () => {
    const stateDir = await directory({ afterSeconds: 3600 });
    const client = await bridgeAt(stateDir, ['--approvals', 'human-only']);
    receiver.answering = ({ type, data }) => {
      const [action] = Array.isArray(data['pending']) ? data['pending'] : [];
      return type === 'approval.asked'
        ? asJson({
            decisions: [
              { callId: action.callId, shown: action.shown, decision: 'deny', reason: 'not today' },
            ],
          })
        : undefined;
    };
    const { sessionId } = idsIn(await delegated(client, 'refused.md'));
    await receiver.got('approval.decided');
    const done = await waited(client, sessionId);
    expect(done.structuredContent).toMatchObject({ state: 'completed' });
    expect(await whole.file('refused.md')).toBeUndefined();
  });

  test('without its secret the webhook gets no post, the log contains the reason, and the tool can still decide', async () => {
    const stateDir = await directory({ afterSeconds: 0, secretEnv: 'NOWHERE_SET' });
    const client = await bridgeAt(stateDir);
    const ids = idsIn(await delegated(client, 'unsigned.md'));
    await client.logged(/The approval webhook takes its secret from the environment variable NOWHERE_SET/);
    const done = await client.call(DECIDE, { ...ids, decision: 'approve' });
    expect(done.structuredContent).toMatchObject({ state: 'completed' });
    expect(receiver.posts).toEqual([]);
    expect(client.invalidLines).toEqual([]);
  });
});
