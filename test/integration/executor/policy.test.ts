/** Tests policy rules and modes in whole tasks, with the real journal, tools and workspace. */
import { describe, expect, it } from '@jest/globals';
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openSqliteJournal } from '../../../a2a-server/journal/sqlite/sqlite-journal.ts';
import { builtinTools } from '../../../a2a-server/tools/builtin/builtin-tools.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { personWithPasskey } from '../../support/person-with-passkey.ts';
import { openPages, openSite } from '../../support/web-site.ts';
import type { ScriptedModel, ScriptedTurn } from '../../support/scripted-model.ts';
import {
  decideUntilSettled,
  decisionMessage,
  messageOf,
  pendingCall,
  sendUntilSettled,
  startScripted,
  untilSettled,
  type ServiceOptions,
} from '../../support/task-service.ts';

/** Starts a task whose first turn has these calls, and waits until it is settled. */
async function askedAbout(
  calls: NonNullable<ScriptedTurn['calls']>,
  options: Partial<ServiceOptions> = {},
  ...later: ScriptedTurn[]
) {
  const started = await startScripted([{ calls }, ...later], options);
  return { ...started, parked: await sendUntilSettled(started.tasks, messageOf('go')) };
}

/** Starts a site that redirects to another one, and returns both with a call and tools that may reach them. */
async function redirect() {
  const secret = await openPages({ '/': 'secret' });
  const site = await openSite((_request, response) => {
    response.writeHead(302, { Location: `http://localhost:${secret.port}/` }).end();
  });
  const tools = builtinTools({ privateHosts: [site.host, `localhost:${secret.port}`] });
  return { secret, site, tools, calls: [{ tool: 'fetch', input: { url: site.origin } }] };
}

/** What the model got with its last request. */
const told = ({ requests }: ScriptedModel): string => JSON.stringify(requests.at(-1)?.conversation);

const APPROVE = { decision: 'approve' } as const;
const write = (path: string) => ({ tool: 'write-file', input: { path, content: 'new' } });
const shell = (command: string) => ({ tool: 'run-shell-command', input: { command } });
const shellIn = (cwd: string, command: string) => ({ tool: 'run-shell-command', input: { command, cwd } });

describe('a task under policy rules', () => {
  it('a task runs allowed calls and asks about unlisted calls, and the model learns which rule denied a call', async () => {
    const { tasks, workspace, models } = await startScripted(
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
    const done = await decideUntilSettled(tasks, parked);
    expect(done.status.state).toBe('completed');
    expect(await readFile(join(workspace, 'docs/a.md'), 'utf8')).toBe('new');
    expect(await readFile(join(workspace, 'b.txt'), 'utf8')).toBe('new');
    await expect(readFile(join(workspace, '.env'))).rejects.toThrow('ENOENT');
    const got = told(models);
    expect(got).toMatch(/rule 2 \(deny: path .*keys live there/);
  });

  it('R13 deny rules and ask rules also apply to a task with autoExecute', async () => {
    const { tasks, workspace } = await startScripted(
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
    const { tasks } = await startScripted(
      [{ calls: [write('a.txt')] }, { calls: [write('b.txt'), write('asked.txt'), write('denied.txt')] }],
      {
        policy: [
          { action: 'ask', path: 'asked.txt' },
          { action: 'deny', path: 'denied.txt' },
        ],
      },
    );
    const parked = await sendUntilSettled(tasks, messageOf('go'));
    const again = await decideUntilSettled(tasks, parked, { decision: 'approve', scope: 'always' });
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
    const { tasks } = await startScripted([{ calls: [shell('git status')] }], {
      policy: [{ action: 'deny', command: 'git push' }],
    });
    const parked = await sendUntilSettled(tasks, messageOf('go'));
    const edit = { decision: 'edit', input: { command: 'git status && git push' } } as const;
    await expect(tasks.send(decisionMessage(parked, edit))).rejects.toMatchObject({
      reason: 'INVALID_DECISION',
      message: expect.stringContaining('rule 1 (deny: command "git push")'),
    });
    expect((await tasks.row(parked.taskId, { principal: 'ada' })).state).toBe('input-required');
  });

  it('a rule checks a path after links are resolved: a link cannot bypass a deny rule', async () => {
    const { tasks, workspace, models } = await startScripted(
      [{ calls: [{ tool: 'read-file', input: { path: 'notes.md' } }] }],
      {
        policy: [{ action: 'deny', path: '.env' }],
      },
    );
    await writeFile(join(workspace, '.env'), 'KEY=hush');
    await symlink('.env', join(workspace, 'notes.md'));
    await sendUntilSettled(tasks, messageOf('go'));
    const got = told(models);
    expect(got).toContain('rule 1 (deny');
    expect(got).not.toContain('hush');
  });

  it('X2 a call that runs unasked is refused if another call of its turn has led its path to a file that asks', async () => {
    const { tasks, workspace, models } = await startScripted(
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
    await decideUntilSettled(tasks, parked);
    await expect(readFile(join(workspace, '.git/hooks/pre-commit'))).rejects.toThrow('ENOENT');
    expect(await readFile(join(workspace, 'a.txt'), 'utf8')).toBe('new');
    const got = told(models);
    expect(got.match(/a person must decide/g)).toHaveLength(2);
    expect(got).not.toContain('hush');
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
      const { tasks, workspace } = await startScripted([{ calls: [call] }]);
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
      const third = await decideUntilSettled(tasks, parked);
      await linkTo('two');
      const again = await decideUntilSettled(tasks, third);
      expect(again.calls[callId]?.state).toMatchObject({ type: 'waiting', reason: 'content-changed' });
      expect(JSON.stringify(again.calls[callId]?.preview)).toMatch(new RegExp(`"${shown}":"[^"]*${after}"`));
      expect(await readdir(join(workspace, 'two'))).toEqual([]);
      // A decision about the question that showed the directory `three` is not valid for this one.
      await expect(tasks.send(decisionMessage(third, { decision: 'approve' }))).rejects.toMatchObject({
        reason: 'INPUT_CHANGED',
      });
      await decideUntilSettled(tasks, again);
      expect(await readdir(join(workspace, 'two'))).toHaveLength(1);
    },
  );

  it('X2 a recursive list shows no names in directories that rules deny or ask about', async () => {
    const { tasks, workspace, models } = await startScripted(
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
    const got = told(models);
    expect(got).toContain('in-src');
    expect(got).not.toMatch(/in-(secrets|deploy|docs)/);
    expect(got).toContain('A rule of the operator hides what is in deploy/, docs/, secrets/');
  });

  it('X2 a search reads no file that rules deny or ask about, and searches the others', async () => {
    const { tasks, workspace, models } = await startScripted(
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
    const got = told(models);
    expect(got).toContain('in-src');
    expect(got).not.toMatch(/in-(\.env|deploy)/);
    expect(got).toContain('A rule of the operator hides 2 files from the search');
  });

  it.each([
    ['X2', { action: 'deny' }, 'rule 1 (deny: host'],
    ['X2', { action: 'ask' }, 'Request the address that it leads to'],
    ['R121', { action: 'ask', approver: { group: 'release' } }, 'demands another approver'],
  ] as const)(
    '%s the server does not follow a redirect to a host with the rule %j',
    async (_id, rule, says) => {
      const { site, secret, calls, tools } = await redirect();
      const policy = [{ ...rule, host: 'localhost' }];
      const { tasks, models } = await startScripted([{ calls }], { policy, mode: 'auto', tools });
      await sendUntilSettled(tasks, messageOf('go'));
      expect(site.asked).toEqual(['/']);
      expect(secret.asked).toEqual([]);
      expect(told(models)).toContain(says);
    },
  );

  it.each([
    { demands: 'localhost', follows: false },
    { demands: '*', follows: true },
  ])(
    'R120 a passkey for one host under rule "$demands": the server follows a redirect to another host: $follows',
    async ({ demands, follows }) => {
      const { site, secret, calls, tools } = await redirect();
      const clock = new FakeClock();
      const person = await personWithPasskey(clock);
      const { tasks, models } = await startScripted([{ calls }], {
        clock,
        presence: person.presence,
        policy: ['127.0.0.1', demands].map((host) => ({ action: 'presence', host })),
        tools,
      });
      const parked = await sendUntilSettled(tasks, messageOf('go'));
      await sendUntilSettled(tasks, await person.approval(tasks, parked, pendingCall(parked)));
      expect(site.asked).toEqual(['/']);
      expect(secret.asked).toEqual(follows ? ['/'] : []);
      expect(told(models).includes('rule 2 (presence: host')).toBe(!follows);
    },
  );

  it('a deny rule that is added at a restart also denies calls that already wait', async () => {
    const { parked, workspace, restart } = await askedAbout([write('a.txt')]);
    const { tasks } = await restart({ policy: [{ action: 'deny', path: 'a.txt' }] });
    const done = await decideUntilSettled(tasks, parked);
    expect(done.calls[pendingCall(parked)]?.state).toMatchObject({
      result: { type: 'ran', outcome: { type: 'error', message: expect.stringContaining('rule 1 (deny') } },
    });
    await expect(readFile(join(workspace, 'a.txt'))).rejects.toThrow('ENOENT');
  });
});

describe('a rule that says who may approve', () => {
  const rule = { action: 'ask' as const, path: 'secret.txt', approver: { group: 'release' } };
  const refusal = { reason: 'OTHER_APPROVER_REQUIRED' };

  it('R121 the demand holds after a restart without the rule', async () => {
    const { workspace, parked, restart } = await askedAbout([write('secret.txt')], { policy: [rule] });
    const { tasks } = await restart({ policy: [] });
    await expect(tasks.send(decisionMessage(parked, APPROVE))).rejects.toMatchObject(refusal);
    await sendUntilSettled(tasks, { ...decisionMessage(parked, APPROVE), groups: ['release'] });
    expect(await readFile(join(workspace, 'secret.txt'), 'utf8')).toBe('new');
  });

  it('R121 a call that waited before the rule existed is approved, but does not run', async () => {
    const { workspace, models, parked, restart } = await askedAbout([write('secret.txt')]);
    const { tasks } = await restart({ policy: [rule] });
    await decideUntilSettled(tasks, parked);
    expect(told(models)).toContain('demands another approver');
    await expect(readFile(join(workspace, 'secret.txt'))).rejects.toThrow('ENOENT');
  });

  it('R121 an edit whose new input matches the rule needs the approver', async () => {
    const { tasks, parked, workspace } = await askedAbout([write('open.txt')], { policy: [rule] });
    const edit = { decision: 'edit', input: { path: 'secret.txt', content: 'x' } } as const;
    await expect(tasks.send(decisionMessage(parked, edit))).rejects.toMatchObject(refusal);
    await sendUntilSettled(tasks, { ...decisionMessage(parked, edit), groups: ['docs', 'release'] });
    expect(await readFile(join(workspace, 'secret.txt'), 'utf8')).toBe('x');
  });
});

describe('a server that demands four eyes since a restart', () => {
  const refusal = { reason: 'OTHER_APPROVER_REQUIRED' };
  it('X1 the delegator cannot approve a call that waited before', async () => {
    const { parked, restart } = await askedAbout([write('a.txt')]);
    const { tasks } = await restart({ fourEyes: true });
    await expect(tasks.send(decisionMessage(parked, APPROVE))).rejects.toMatchObject(refusal);
  });

  it('X1 an approval of the delegator that has not started its call lets it no longer run', async () => {
    const before = await askedAbout([write('a.txt'), shell('true')]);
    const { workspace, models } = before;
    const half = await decideUntilSettled(before.tasks, before.parked);
    const { tasks } = await before.restart({ fourEyes: true });
    await decideUntilSettled(tasks, half, 'deny');
    expect(told(models)).toContain('demands another approver');
    await expect(readFile(join(workspace, 'a.txt'))).rejects.toThrow('ENOENT');
  });

  it('X1 a grant of the delegator allows no further call', async () => {
    const later = [{ calls: [shell('true')] }, { calls: [write('b.txt')] }];
    const { tasks, parked, restart } = await askedAbout([write('a.txt')], {}, ...later);
    const asked = await decideUntilSettled(tasks, parked, { ...APPROVE, scope: 'tool' });
    expect(asked.grants).toMatchObject([{ by: { principal: 'ada' } }]);
    const next = await restart({ fourEyes: true });
    const waits = await decideUntilSettled(next.tasks, asked, 'deny');
    expect(waits.status).toMatchObject({
      pending: [{ title: 'Write b.txt', approver: { otherThan: ['ada'] } }],
    });
    await expect(next.tasks.send(decisionMessage(waits, APPROVE))).rejects.toMatchObject(refusal);
  });

  it('X1 a call that a rule allowed before does not run under a rule that demands an approver', async () => {
    const policy = [{ action: 'allow' as const, path: 'a.txt' }];
    const first = await askedAbout([write('a.txt'), shell('true')], { policy, fourEyes: true });
    const { workspace, models, parked, restart } = first;
    const { tasks } = await restart({
      policy: [{ action: 'ask', path: 'a.txt', approver: { fourEyes: true } }],
    });
    await decideUntilSettled(tasks, parked, 'deny');
    expect(told(models)).toContain('demands another approver');
    await expect(readFile(join(workspace, 'a.txt'))).rejects.toThrow('ENOENT');
  });
});

it.each([
  { rule: { action: 'ask', approver: { group: 'release' } }, says: 'demands another approver' },
  { rule: { action: 'presence' }, says: 'approved this call with a passkey' },
] as const)(
  'X1 a decision that an earlier server accepted unchecked lets no call run under $rule',
  async ({ rule, says }) => {
    const policy = [{ ...rule, path: 'secret.txt' }];
    const before = await askedAbout([write('secret.txt')], { policy });
    const { stateDir, workspace, clock, parked, models } = before;
    await before.stop();
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
    const { tasks } = await before.restart({ journal });
    await tasks.recover();
    await untilSettled(tasks, { taskId, seq: expectedSeq + 2 });
    expect(told(models)).toContain(says);
    await expect(readFile(join(workspace, 'secret.txt'))).rejects.toThrow('ENOENT');
  },
);

/** Starts a task whose first decision gives a trust grant for the tool. */
async function trusting(grant: { minutes?: number; uses?: number }, turns: ScriptedTurn[]) {
  const started = await askedAbout([write('first.txt')], {}, ...turns);
  const { tasks, parked } = started;
  const after = await decideUntilSettled(tasks, parked, { ...APPROVE, scope: 'tool', grant });
  return { ...started, taskId: parked.taskId, after };
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
    const asked = await decideUntilSettled(tasks, after);
    expect(asked.status).toMatchObject({ pending: [{ title: 'Write a.txt' }] });
  });
});

describe('a task with a mode', () => {
  it('the mode "accept-edits" changes files without a question, and asks before commands and changes of a repository', async () => {
    const { tasks, workspace } = await startScripted([
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
    const { tasks, models, workspace } = await startScripted(
      [{ calls: [write('a.txt')] }, { text: 'The plan.' }],
      {
        mode: 'plan',
      },
    );
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
      const { tasks, workspace } = await startScripted(
        [{ calls: [write('a.txt')] }, { calls: [write('b.txt')] }],
        {
          mode,
        },
      );
      const parked = await sendUntilSettled(tasks, messageOf('go', { mayApprove: false }));
      expect(parked.status).toMatchObject({ pending: [{ title: 'Write a.txt' }] });
      const done = await sendUntilSettled(tasks, messageOf('go'));
      expect(done.status.state).toBe('completed');
      expect(await readdir(workspace)).toEqual(['b.txt']);
    },
  );

  it('a task whose mode contradicts its other settings is refused, and nothing starts', async () => {
    const { tasks } = await startScripted([]);
    const settings = { mode: 'plan', autoExecute: true } as const;
    await expect(tasks.send(messageOf('go', { settings }))).rejects.toMatchObject({ reason: 'MALFORMED' });
  });
});
