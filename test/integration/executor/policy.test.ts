/** Tests policy rules and modes in whole tasks, with the real journal, tools and workspace. */
import { describe, expect, it } from '@jest/globals';
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openSqliteJournal } from '../../../a2a-server/journal/sqlite/sqlite-journal.ts';
import type { Snapshot } from '../../../a2a-server/task/snapshot.ts';
import { builtinTools } from '../../../a2a-server/tools/builtin/builtin-tools.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { personWithPasskey } from '../../support/person-with-passkey.ts';
import { openPages, openSite } from '../../support/web-site.ts';
import { ScriptedModel, type ScriptedTurn } from '../../support/scripted-model.ts';
import {
  decisionMessage,
  messageOf,
  untilSettled,
  startTaskService,
  sendUntilSettled,
} from '../../support/task-service.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

type Options = Pick<
  Parameters<typeof startTaskService>[0],
  'policy' | 'mode' | 'tools' | 'stateDir' | 'clock' | 'presence' | 'fourEyes'
>;

async function agent(turns: ScriptedTurn[], options: Partial<Options> = {}) {
  const stateDir = options.stateDir ?? (await temporaryDirectory());
  const workspace = await temporaryDirectory();
  const models = new ScriptedModel(turns);
  const service = await startTaskService({ ...options, stateDir, workspace, models });
  return { ...service, models, workspace, stateDir, service };
}

const write = (path: string) => ({ tool: 'write-file', input: { path, content: 'new' } });
const shell = (command: string) => ({ tool: 'run-shell-command', input: { command } });
const shellIn = (cwd: string, command: string) => ({ tool: 'run-shell-command', input: { command, cwd } });

describe('a task under policy rules', () => {
  it('a task runs allowed calls and asks about unlisted calls, and the model learns which rule denied a call', async () => {
    const { tasks, workspace, models } = await agent(
      [{ calls: [write('docs/a.md'), write('b.txt'), write('.env')] }],
      {
        policy: [
          { action: 'allow', path: 'docs/**' },
          { action: 'deny', path: '.env', comment: 'keys live there' },
        ],
      },
    );
    const parked = await sendUntilSettled(tasks, messageOf('go'));
    expect(parked.status).toMatchObject({ pending: [{ title: 'Write b.txt' }] });
    const [callId] = Object.values(parked.calls).flatMap((call) =>
      call.state.type === 'waiting' ? call.callId : [],
    );
    const accepted = await tasks.send(decisionMessage(parked, { callId: callId ?? '', decision: 'approve' }));
    const done = await untilSettled(tasks, accepted);
    expect(done.status.state).toBe('completed');
    expect(await readFile(join(workspace, 'docs/a.md'), 'utf8')).toBe('new');
    expect(await readFile(join(workspace, 'b.txt'), 'utf8')).toBe('new');
    await expect(readFile(join(workspace, '.env'))).rejects.toThrow('ENOENT');
    const told = JSON.stringify(models.requests.at(-1)?.conversation);
    expect(told).toMatch(/rule 2 \(deny: path .*keys live there/);
  });

  it('R13 deny rules and ask rules also apply to a task with autoExecute', async () => {
    const { tasks, workspace } = await agent(
      [{ calls: [shell('echo x > denied; true'), write('asked.txt')] }],
      {
        policy: [
          { action: 'deny', command: 'echo' },
          { action: 'ask', path: 'asked.txt' },
        ],
      },
    );
    const parked = await sendUntilSettled(tasks, messageOf('go', { settings: { mode: 'auto' } }));
    expect(parked.status).toMatchObject({
      state: 'input-required',
      pending: [{ title: 'Write asked.txt', rule: 'rule 2 (ask: path "asked.txt")' }],
    });
    await expect(readFile(join(workspace, 'denied'))).rejects.toThrow('ENOENT');
  });

  it('R12 a trust grant overrides neither a deny rule nor an ask rule', async () => {
    const { tasks } = await agent(
      [{ calls: [write('a.txt')] }, { calls: [write('b.txt'), write('asked.txt'), write('denied.txt')] }],
      {
        policy: [
          { action: 'ask', path: 'asked.txt' },
          { action: 'deny', path: 'denied.txt' },
        ],
      },
    );
    const parked = await sendUntilSettled(tasks, messageOf('go'));
    const [callId = ''] = Object.keys(parked.calls);
    const accepted = await tasks.send(
      decisionMessage(parked, { callId, decision: 'approve', scope: 'always' }),
    );
    const again = await untilSettled(tasks, accepted);
    expect(again.status).toMatchObject({ pending: [{ title: 'Write asked.txt' }] });
    const verdicts = Object.values(again.calls).map(({ title, state }) => [title, state.type]);
    expect(verdicts).toEqual([
      ['Write a.txt', 'settled'],
      ['Write b.txt', 'ready'],
      ['Write asked.txt', 'waiting'],
      ['Write denied.txt', 'settled'],
    ]);
  });

  it('D4 an edit that turns a call into a denied one is refused, and the call still waits', async () => {
    const { tasks } = await agent([{ calls: [shell('git status')] }], {
      policy: [{ action: 'deny', command: 'git push' }],
    });
    const parked = await sendUntilSettled(tasks, messageOf('go'));
    const [callId = ''] = Object.keys(parked.calls);
    const edit = { callId, decision: 'edit' as const, input: { command: 'git status && git push' } };
    await expect(tasks.send(decisionMessage(parked, edit))).rejects.toMatchObject({
      reason: 'INVALID_DECISION',
      message: expect.stringContaining('rule 1 (deny: command "git push")'),
    });
    expect((await tasks.row(parked.taskId, { principal: 'ada' })).state).toBe('input-required');
  });

  it('a rule checks a path after links are resolved: a link cannot bypass a deny rule', async () => {
    const { tasks, workspace, models } = await agent(
      [{ calls: [{ tool: 'read-file', input: { path: 'notes.md' } }] }],
      {
        policy: [{ action: 'deny', path: '.env' }],
      },
    );
    await writeFile(join(workspace, '.env'), 'KEY=hush');
    await symlink('.env', join(workspace, 'notes.md'));
    await sendUntilSettled(tasks, messageOf('go'));
    const told = JSON.stringify(models.requests.at(-1)?.conversation);
    expect(told).toContain('rule 1 (deny');
    expect(told).not.toContain('hush');
  });

  it('X2 a call that runs unasked is refused if another call of its turn has led its path to a file that asks', async () => {
    const { tasks, workspace, models } = await agent(
      [
        {
          calls: [
            shell('ln -s .git/hooks x; ln -sfn secrets s'),
            write('x/pre-commit'),
            { tool: 'read-file', input: { path: 's/key' } },
            write('a.txt'),
          ],
        },
      ],
      { mode: 'accept-edits', policy: [{ action: 'ask', path: 'secrets/**' }] },
    );
    await mkdir(join(workspace, '.git/hooks'), { recursive: true });
    for (const [directory, text] of [
      ['docs', 'open'],
      ['secrets', 'hush'],
    ] as const) {
      await mkdir(join(workspace, directory));
      await writeFile(join(workspace, directory, 'key'), text);
    }
    await symlink('docs', join(workspace, 's'));
    const parked = await sendUntilSettled(tasks, messageOf('go'));
    expect(parked.status).toMatchObject({ pending: [{ tool: 'run-shell-command' }] });
    const [callId = ''] = Object.keys(parked.calls);
    await untilSettled(tasks, await tasks.send(decisionMessage(parked, { callId, decision: 'approve' })));
    await expect(readFile(join(workspace, '.git/hooks/pre-commit'))).rejects.toThrow('ENOENT');
    expect(await readFile(join(workspace, 'a.txt'), 'utf8')).toBe('new');
    const told = JSON.stringify(models.requests.at(-1)?.conversation);
    expect(told.match(/a person must decide/g)).toHaveLength(2);
    expect(told).not.toContain('hush');
  });

  it.each([
    { call: write('x/a.txt'), shown: 'path', before: 'one/a.txt', after: 'two/a.txt' },
    { call: shellIn('x', 'pwd > out.txt'), shown: 'cwd', before: 'one', after: 'two' },
    {
      call: { tool: 'move-file', input: { path: 'a.txt', to: 'x/a.txt' } },
      shown: 'to',
      before: 'one/a.txt',
      after: 'two/a.txt',
    },
  ])(
    'D2 an approved $call.tool is asked again if a link now leads to another place',
    async ({ call, shown, before, after }) => {
      const { tasks, workspace } = await agent([{ calls: [call] }]);
      for (const directory of ['one', 'two', 'three']) await mkdir(join(workspace, directory));
      await writeFile(join(workspace, 'a.txt'), 'old');
      const linkTo = async (directory: string): Promise<void> => {
        await rm(join(workspace, 'x'), { force: true });
        await symlink(directory, join(workspace, 'x'));
      };
      await linkTo('one');
      const parked = await sendUntilSettled(tasks, messageOf('go'));
      const [callId = ''] = Object.keys(parked.calls);
      expect(JSON.stringify(parked.calls[callId]?.preview)).toMatch(
        new RegExp(`"${shown}":"[^"]*${before}"`),
      );
      await linkTo('three');
      const third = await untilSettled(
        tasks,
        await tasks.send(decisionMessage(parked, { callId, decision: 'approve' })),
      );
      await linkTo('two');
      const sent = await tasks.send(decisionMessage(third, { callId, decision: 'approve' }));
      const again = await untilSettled(tasks, sent);
      expect(again.calls[callId]?.state).toMatchObject({ type: 'waiting', reason: 'content-changed' });
      expect(JSON.stringify(again.calls[callId]?.preview)).toMatch(new RegExp(`"${shown}":"[^"]*${after}"`));
      expect(await readdir(join(workspace, 'two'))).toEqual([]);
      // A decision about the question that showed the directory `three` is not valid for this one.
      await expect(tasks.send(decisionMessage(third, { callId, decision: 'approve' }))).rejects.toMatchObject(
        { reason: 'INPUT_CHANGED' },
      );
      const approved = decisionMessage(again, { callId, decision: 'approve' });
      await untilSettled(tasks, await tasks.send(approved));
      expect(await readdir(join(workspace, 'two'))).toHaveLength(1);
    },
  );

  it('X2 a recursive list shows no names in directories that rules deny or ask about', async () => {
    const { tasks, workspace, models } = await agent(
      [{ calls: [{ tool: 'list-files', input: { recursive: true } }] }],
      {
        policy: [
          { action: 'deny', path: 'secrets/**' },
          { action: 'ask', path: 'deploy/**' },
          { action: 'ask', tool: 'list-*', path: 'docs/**' },
        ],
      },
    );
    for (const name of ['secrets', 'deploy', 'docs', 'src']) {
      await mkdir(join(workspace, name));
      await writeFile(join(workspace, name, `in-${name}`), 'x');
    }
    await sendUntilSettled(tasks, messageOf('go'));
    const told = JSON.stringify(models.requests.at(-1)?.conversation);
    expect(told).toContain('in-src');
    expect(told).not.toMatch(/in-(secrets|deploy|docs)/);
    expect(told).toContain('A rule of the operator hides what is in deploy/, docs/, secrets/');
  });

  it('X2 a search reads no file that rules deny or ask about, and searches the others', async () => {
    const { tasks, workspace, models } = await agent(
      [{ calls: [{ tool: 'search-files', input: { pattern: 'in-' } }] }],
      {
        policy: [
          { action: 'deny', path: '.env' },
          { action: 'ask', path: 'deploy/**' },
        ],
      },
    );
    for (const name of ['deploy', 'src']) await mkdir(join(workspace, name));
    for (const name of ['.env', 'deploy/a', 'src/a']) await writeFile(join(workspace, name), `in-${name}`);
    await sendUntilSettled(tasks, messageOf('go'));
    const told = JSON.stringify(models.requests.at(-1)?.conversation);
    expect(told).toContain('in-src');
    expect(told).not.toMatch(/in-(\.env|deploy)/);
    expect(told).toContain('A rule of the operator hides 2 files from the search');
  });

  it.each([
    { policy: { action: 'deny', host: 'localhost' } as const, says: 'rule 1 (deny: host' },
    { policy: { action: 'ask', host: 'localhost' } as const, says: 'Request the address that it leads to' },
  ])(
    'X2 the server does not follow a redirect to a host with the rule $policy.action',
    async ({ policy, says }) => {
      const secret = await openPages({ '/': 'secret' });
      const site = await openSite((_request, response) => {
        response.writeHead(302, { Location: `http://localhost:${secret.port}/` }).end();
      });
      const { tasks, models } = await agent([{ calls: [{ tool: 'fetch', input: { url: site.origin } }] }], {
        policy: [policy],
        mode: 'auto',
        tools: builtinTools({ privateHosts: [site.host, `localhost:${secret.port}`] }),
      });
      await sendUntilSettled(tasks, messageOf('go'));
      expect(site.asked).toEqual(['/']);
      expect(secret.asked).toEqual([]);
      expect(JSON.stringify(models.requests.at(-1)?.conversation)).toContain(says);
    },
  );

  it.each([
    { demands: 'localhost', follows: false },
    { demands: '*', follows: true },
  ])(
    'R120 a passkey for one host under rule "$demands": the server follows a redirect to another host: $follows',
    async ({ demands, follows }) => {
      const secret = await openPages({ '/': 'secret' });
      const site = await openSite((_request, response) => {
        response.writeHead(302, { Location: `http://localhost:${secret.port}/` }).end();
      });
      const [stateDir, clock] = [await temporaryDirectory(), new FakeClock()];
      const person = await personWithPasskey(clock);
      const { tasks, models } = await agent([{ calls: [{ tool: 'fetch', input: { url: site.origin } }] }], {
        stateDir,
        clock,
        presence: person.presence,
        policy: [
          { action: 'presence', host: '127.0.0.1' },
          { action: 'presence', host: demands },
        ],
        tools: builtinTools({ privateHosts: [site.host, `localhost:${secret.port}`] }),
      });
      const parked = await sendUntilSettled(tasks, messageOf('go'));
      const [callId = ''] = Object.keys(parked.calls);
      await sendUntilSettled(tasks, await person.approval(tasks, parked, callId));
      expect(site.asked).toEqual(['/']);
      expect(secret.asked).toEqual(follows ? ['/'] : []);
      const told = JSON.stringify(models.requests.at(-1)?.conversation);
      expect(told.includes('rule 2 (presence: host')).toBe(!follows);
    },
  );

  it('a deny rule that is added at a restart also denies calls that already wait', async () => {
    const first = await agent([{ calls: [write('a.txt')] }]);
    const parked = await sendUntilSettled(first.tasks, messageOf('go'));
    const [callId = ''] = Object.keys(parked.calls);
    await first.service.stop();
    const { stateDir, workspace, clock } = first;
    const models = new ScriptedModel([]);
    const policy = [{ action: 'deny' as const, path: 'a.txt' }];
    const { tasks } = await startTaskService({ stateDir, workspace, models, clock, policy });
    const done = await sendUntilSettled(tasks, decisionMessage(parked, { callId, decision: 'approve' }));
    expect(done.calls[callId]?.state).toMatchObject({
      result: { type: 'ran', outcome: { type: 'error', message: expect.stringContaining('rule 1 (deny') } },
    });
    await expect(readFile(join(workspace, 'a.txt'))).rejects.toThrow('ENOENT');
  });
});

/** Starts a task whose first turn has these calls, and waits until it is settled. `approval` approves its first call. */
async function askedAbout(
  calls: NonNullable<ScriptedTurn['calls']>,
  options: Partial<Options> = {},
  ...later: ScriptedTurn[]
) {
  const started = await agent([{ calls }, ...later], options);
  const parked = await sendUntilSettled(started.tasks, messageOf('go'));
  const [callId = ''] = Object.keys(parked.calls);
  return { ...started, parked, approval: { callId, decision: 'approve' as const } };
}

describe('a rule that says who may approve', () => {
  const rule = { action: 'ask' as const, path: 'secret.txt', approver: { group: 'release' } };
  const refusal = { reason: 'OTHER_APPROVER_REQUIRED' };

  it('R121 the demand holds after a restart without the rule', async () => {
    const { service, stateDir, workspace, clock, parked, approval } = await askedAbout(
      [write('secret.txt')],
      {
        policy: [rule],
      },
    );
    await service.stop();
    const { tasks } = await startTaskService({ stateDir, workspace, models: new ScriptedModel([]), clock });
    await expect(tasks.send(decisionMessage(parked, approval))).rejects.toMatchObject(refusal);
    const approved = { ...decisionMessage(parked, approval), groups: ['release'] };
    await sendUntilSettled(tasks, approved);
    expect(await readFile(join(workspace, 'secret.txt'), 'utf8')).toBe('new');
  });

  it('R121 a call that waited before the rule existed is approved, but does not run', async () => {
    const { service, stateDir, workspace, clock, parked, approval } = await askedAbout([write('secret.txt')]);
    await service.stop();
    const models = new ScriptedModel([]);
    const { tasks } = await startTaskService({ stateDir, workspace, models, clock, policy: [rule] });
    await sendUntilSettled(tasks, decisionMessage(parked, approval));
    expect(JSON.stringify(models.requests.at(-1)?.conversation)).toContain('demands another approver');
    await expect(readFile(join(workspace, 'secret.txt'))).rejects.toThrow('ENOENT');
  });

  it('R121 an edit whose new input matches the rule needs the approver', async () => {
    const { tasks, parked, workspace, approval } = await askedAbout([write('open.txt')], { policy: [rule] });
    const edit = { ...approval, decision: 'edit' as const, input: { path: 'secret.txt', content: 'x' } };
    await expect(tasks.send(decisionMessage(parked, edit))).rejects.toMatchObject(refusal);
    await sendUntilSettled(tasks, { ...decisionMessage(parked, edit), groups: ['docs', 'release'] });
    expect(await readFile(join(workspace, 'secret.txt'), 'utf8')).toBe('x');
  });

  it('R121 the server does not follow a redirect to a host whose rule demands another approver', async () => {
    const secret = await openPages({ '/': 'secret' });
    const site = await openSite((_request, response) => {
      response.writeHead(302, { Location: `http://localhost:${secret.port}/` }).end();
    });
    const { models } = await askedAbout([{ tool: 'fetch', input: { url: site.origin } }], {
      policy: [{ action: 'ask', host: 'localhost', approver: { group: 'release' } }],
      mode: 'auto',
      tools: builtinTools({ privateHosts: [site.host, `localhost:${secret.port}`] }),
    });
    expect(site.asked).toEqual(['/']);
    expect(secret.asked).toEqual([]);
    expect(JSON.stringify(models.requests.at(-1)?.conversation)).toContain('demands another approver');
  });
});

/** Decides the first call that waits. */
function decided(parked: Snapshot, decision: 'approve' | 'deny', scope: 'once' | 'tool' = 'once') {
  const [call] = Object.values(parked.calls).filter(({ state }) => state.type === 'waiting');
  return decisionMessage(parked, { callId: call?.callId ?? '', decision, scope });
}

describe('a server that demands four eyes since a restart', () => {
  const refusal = { reason: 'OTHER_APPROVER_REQUIRED' };
  it('X1 the delegator cannot approve a call that waited before', async () => {
    const { service, stateDir, workspace, clock, parked } = await askedAbout([write('a.txt')]);
    await service.stop();
    const models = new ScriptedModel([]);
    const { tasks } = await startTaskService({ stateDir, workspace, models, clock, fourEyes: true });
    await expect(tasks.send(decided(parked, 'approve'))).rejects.toMatchObject(refusal);
  });

  it('X1 an approval of the delegator that has not started its call lets it no longer run', async () => {
    const first = await askedAbout([write('a.txt'), shell('true')]);
    const { service, tasks: before, stateDir, workspace, clock, parked, approval } = first;
    const half = await untilSettled(before, await before.send(decisionMessage(parked, approval)));
    await service.stop();
    const models = new ScriptedModel([]);
    const { tasks } = await startTaskService({ stateDir, workspace, models, clock, fourEyes: true });
    await sendUntilSettled(tasks, decided(half, 'deny'));
    expect(JSON.stringify(models.requests.at(-1)?.conversation)).toContain('demands another approver');
    await expect(readFile(join(workspace, 'a.txt'))).rejects.toThrow('ENOENT');
  });

  it('X1 a grant of the delegator allows no further call', async () => {
    const { service, tasks, stateDir, workspace, clock, parked } = await askedAbout(
      [write('a.txt')],
      {},
      { calls: [shell('true')] },
    );
    const asked = await sendUntilSettled(tasks, decided(parked, 'approve', 'tool'));
    expect(asked.grants).toMatchObject([{ by: { principal: 'ada' } }]);
    await service.stop();
    const models = new ScriptedModel([{ calls: [write('b.txt')] }]);
    const next = await startTaskService({ stateDir, workspace, models, clock, fourEyes: true });
    const waits = await sendUntilSettled(next.tasks, decided(asked, 'deny'));
    expect(waits.status).toMatchObject({
      pending: [{ title: 'Write b.txt', approver: { otherThan: ['ada'] } }],
    });
    await expect(next.tasks.send(decided(waits, 'approve'))).rejects.toMatchObject(refusal);
  });

  it('X1 a call that a rule allowed before does not run under a rule that demands an approver', async () => {
    const policy = [{ action: 'allow' as const, path: 'a.txt' }];
    const first = await askedAbout([write('a.txt'), shell('true')], { policy, fourEyes: true });
    await first.service.stop();
    const { stateDir, workspace, clock, parked } = first;
    const models = new ScriptedModel([]);
    const { tasks } = await startTaskService({
      stateDir,
      workspace,
      models,
      clock,
      fourEyes: true,
      policy: [{ action: 'ask', path: 'a.txt', approver: { fourEyes: true } }],
    });
    await sendUntilSettled(tasks, decided(parked, 'deny'));
    expect(JSON.stringify(models.requests.at(-1)?.conversation)).toContain('demands another approver');
    await expect(readFile(join(workspace, 'a.txt'))).rejects.toThrow('ENOENT');
  });
});

it.each([
  { rule: { action: 'ask', approver: { group: 'release' } }, told: 'demands another approver' },
  { rule: { action: 'presence' }, told: 'approved this call with a passkey' },
] as const)(
  'X1 a decision that an earlier server accepted unchecked lets no call run under $rule',
  async ({ rule, told }) => {
    const policy = [{ ...rule, path: 'secret.txt' }];
    const { service, stateDir, workspace, clock, parked } = await askedAbout([write('secret.txt')], {
      policy,
    });
    await service.stop();
    const [call] = Object.values(parked.calls);
    if (call === undefined) throw new Error('no call waits');
    const { callId, tool, title, inputHash } = call;
    const { taskId, seq: expectedSeq } = parked;
    const journal = await openSqliteJournal({
      path: join(stateDir, 'journal.db'),
      clock: () => clock.now(),
    });
    const by = { principal: 'ada', channel: 'form' };
    const approved = { callId, tool, title, inputHash, by, decision: 'approve', scope: 'once' } as const;
    await journal.append({
      taskId,
      expectedSeq,
      state: 'working',
      events: [{ type: 'tool.decided', ...approved, reason: null, edited: null }, { type: 'task.working' }],
    });
    const models = new ScriptedModel([]);
    const { tasks } = await startTaskService({ stateDir, workspace, models, clock, policy, journal });
    await tasks.recover();
    await untilSettled(tasks, { taskId, seq: expectedSeq + 2 });
    expect(JSON.stringify(models.requests.at(-1)?.conversation)).toContain(told);
    await expect(readFile(join(workspace, 'secret.txt'))).rejects.toThrow('ENOENT');
  },
);

/** Starts a task whose first decision gives a trust grant for the tool. */
async function trusting(grant: { minutes?: number; uses?: number }, turns: ScriptedTurn[]) {
  const started = await agent([{ calls: [write('first.txt')] }, ...turns]);
  const parked = await sendUntilSettled(started.tasks, messageOf('go'));
  const [callId = ''] = Object.keys(parked.calls);
  const decision = { callId, decision: 'approve' as const, scope: 'tool' as const, grant };
  const accepted = await started.tasks.send(decisionMessage(parked, decision));
  return { ...started, taskId: parked.taskId, after: await untilSettled(started.tasks, accepted) };
}

describe('a trust grant with a limit', () => {
  it('R12 with one use left, a grant lets one later call run, and the next call of the same turn asks the person', async () => {
    const { after, workspace } = await trusting({ uses: 1 }, [{ calls: [write('a.txt'), write('b.txt')] }]);
    expect(after.status).toMatchObject({ pending: [{ title: 'Write b.txt' }] });
    expect(after.grants).toEqual([]);
    // No call of the turn may run before all calls are decided.
    await expect(readFile(join(workspace, 'a.txt'))).rejects.toThrow('ENOENT');
  });

  it('R12 a grant that is revoked while its calls wait for another call lets none of them run', async () => {
    const { tasks, taskId, after, workspace } = await trusting({ minutes: 5 }, [
      { calls: [write('a.txt'), shell('true')] },
    ]);
    expect(after.status).toMatchObject({ pending: [{ tool: 'run-shell-command' }] });
    const [grant] = after.grants;
    const { seq } = await tasks.send(messageOf('', { taskId, revoke: [grant?.grantId ?? ''] }));
    const asked = await tasks.snapshot(taskId, { principal: 'ada' }, seq);
    expect(asked.grants).toEqual([]);
    expect(asked.status).toMatchObject({
      pending: [{ title: 'Write a.txt' }, { tool: 'run-shell-command' }],
    });
    await expect(tasks.send(messageOf('', { taskId, revoke: ['g9'] }))).rejects.toMatchObject({
      reason: 'UNKNOWN_GRANT',
    });
    const ids = Object.values(asked.calls).flatMap((call) =>
      call.state.type === 'waiting' ? call.callId : [],
    );
    const denials = ids.map((callId) => ({ callId, decision: 'deny' as const }));
    await sendUntilSettled(tasks, decisionMessage(asked, ...denials));
    await expect(readFile(join(workspace, 'a.txt'))).rejects.toThrow('ENOENT');
  });

  it('R12 a grant of one minute expires after one minute', async () => {
    const { tasks, after, clock } = await trusting({ minutes: 1 }, [
      { calls: [shell('true')] },
      { calls: [write('a.txt')] },
    ]);
    expect(after.grants).toMatchObject([{ expiresAt: clock.now() + 60_000 }]);
    clock.advance(60_000);
    const [waiting] = Object.values(after.calls).filter(({ state }) => state.type === 'waiting');
    const decision = { callId: waiting?.callId ?? '', decision: 'approve' as const };
    const asked = await sendUntilSettled(tasks, decisionMessage(after, decision));
    expect(asked.status).toMatchObject({ pending: [{ title: 'Write a.txt' }] });
  });
});

describe('a task with a mode', () => {
  it('the mode "accept-edits" changes files without a question, and asks before commands and changes of a repository', async () => {
    const { tasks, workspace } = await agent([
      { calls: [write('a.txt')] },
      { calls: [shell('true'), write('mirror/config')] },
    ]);
    // git treats a directory with this file as a repository.
    await mkdir(join(workspace, 'mirror'));
    await writeFile(join(workspace, 'mirror', 'HEAD'), '');
    const settings = { mode: 'accept-edits' } as const;
    const parked = await sendUntilSettled(tasks, messageOf('go', { settings }));
    expect(parked.status).toMatchObject({
      pending: [{ tool: 'run-shell-command' }, { title: 'Write mirror/config' }],
    });
    expect(await readFile(join(workspace, 'a.txt'), 'utf8')).toBe('new');
  });

  it('the mode "plan" offers only read-only tools, tells this to the model, and refuses all other calls', async () => {
    const { tasks, models, workspace } = await agent([{ calls: [write('a.txt')] }, { text: 'The plan.' }], {
      mode: 'plan',
    });
    const done = await sendUntilSettled(tasks, messageOf('go'));
    expect(done.status.state).toBe('completed');
    expect(done.settings.mode).toBe('plan');
    expect(models.requests[0]?.instructions).toContain('Write only a plan');
    expect(models.requests[0]?.tools.map(({ name }) => name)).not.toContain('write-file');
    await expect(readFile(join(workspace, 'a.txt'))).rejects.toThrow('ENOENT');
  });

  it.each(['auto', 'accept-edits'] as const)(
    'X1 the default mode "%s" of the server does not apply to a task of a sender who may not approve',
    async (mode) => {
      const { tasks, workspace } = await agent([{ calls: [write('a.txt')] }, { calls: [write('b.txt')] }], {
        mode,
      });
      const parked = await sendUntilSettled(tasks, messageOf('go', { mayApprove: false }));
      expect(parked.status).toMatchObject({ pending: [{ title: 'Write a.txt' }] });
      const done = await sendUntilSettled(tasks, messageOf('go'));
      expect(done.status.state).toBe('completed');
      expect(await readdir(workspace)).toEqual(['b.txt']);
    },
  );

  it('a task whose mode contradicts its other settings is refused, and nothing starts', async () => {
    const { tasks } = await agent([]);
    const settings = { mode: 'plan', autoExecute: true } as const;
    await expect(tasks.send(messageOf('go', { settings }))).rejects.toMatchObject({ reason: 'MALFORMED' });
  });
});
