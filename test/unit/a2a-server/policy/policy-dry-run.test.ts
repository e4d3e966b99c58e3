import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { workspaceByText } from '../../../../a2a-server/policy/resolve-targets.ts';
import {
  dryRunPolicy,
  policyDryRunCallText,
  summarizePolicyDryRun,
  policyDryRunSummaryText,
} from '../../../../a2a-server/policy/policy-dry-run.ts';
import type {
  JournalEntry,
  RequestedCall,
  TaskEvent,
  PolicyVerdict,
} from '../../../../a2a-server/task/events.ts';
import { builtinTools } from '../../../../a2a-server/tools/builtin/builtin-tools.ts';
import { policyOf } from '../../../support/judged-calls.ts';
import { entriesFrom, decidedEvent } from '../../../support/folded-task.ts';
import { request } from '../../../support/task-machine.ts';

const MINUTE = 60_000;
const tools = new Map(builtinTools().map((tool) => [tool.name, tool]));

function call(callId: string, tool: string, input: Record<string, unknown>): RequestedCall {
  const sideEffect = tools.get(tool)?.sideEffect ?? 'none';
  return { ...request(callId, false), tool, title: `${tool} ${callId}`, input, sideEffect };
}

const asked = (wanted: RequestedCall, verdict: PolicyVerdict = { type: 'ask' }): TaskEvent => ({
  type: 'tool.requested',
  turn: 1,
  call: wanted,
  verdict,
});

const decided = (callId: string, more: Parameters<typeof decidedEvent>[1] = {}): TaskEvent =>
  decidedEvent(callId, { by: { principal: 'ada', channel: 'cli' }, ...more });

/** Returns a task with these events, one minute apart. */
function task(...events: TaskEvent[]): JournalEntry[] {
  const settings = { workspace: '/gone' };
  const created: TaskEvent = { type: 'task.created', sessionId: 's', principal: 'ada', settings };
  return entriesFrom([created, ...events], MINUTE);
}

function tryOn(entries: JournalEntry[], ...rules: Record<string, unknown>[]) {
  return dryRunPolicy({
    taskId: 't',
    entries,
    policy: policyOf(...rules),
    tool: (name) => tools.get(name),
    workspace: () => Promise.resolve(workspaceByText('/gone')),
  });
}

/** Returns the time of an entry in the format of the report. */
const at = (minutes: number): string => new Date(minutes * MINUTE).toISOString();
const write = (callId: string, path: string) => call(callId, 'write-file', { path, content: 'x' });

describe('dryRunPolicy, which applies a policy to past calls', () => {
  it('dryRunPolicy gives for each call the new and the recorded verdict', async () => {
    const tried = await tryOn(
      task(
        asked(write('a', 'docs/a.md')),
        decided('a'),
        asked(write('b', 'b.txt')),
        asked(write('c', '.env')),
      ),
      { action: 'allow', path: 'docs/**' },
      { action: 'deny', path: '.env' },
    );
    expect(tried).toMatchObject([
      {
        seq: 2,
        met: { fate: 'ask', decided: 'approved by ada on the command line' },
        meets: { fate: 'allow', why: 'rule 1 (allow: path "docs/**")' },
      },
      { met: { fate: 'ask', decided: null }, meets: { fate: 'ask' } },
      { meets: { fate: 'refuse', why: expect.stringContaining('rule 2') } },
    ]);
    expect(summarizePolicyDryRun(tried)).toEqual({
      calls: 3,
      tasks: 1,
      now: { allow: 1, ask: 1, presence: 0, refuse: 1 },
      changed: { 'ask → allow': 1, 'ask → refuse': 1 },
    });
    expect(policyDryRunSummaryText(summarizePolicyDryRun(tried))).toContain(
      'Changed verdicts (marked *): ask → allow 1, ask → refuse 1.',
    );
  });

  it('dryRunPolicy applies the grants that were valid at the time of the call', async () => {
    const trust = decided('a', { scope: 'tool', grant: { minutes: 2 } });
    const grant = {
      type: 'allow',
      because: { type: 'grant', scope: 'tool', callId: 'a', grantId: 'g3' },
    } as const;
    const tried = await tryOn(
      task(asked(write('a', 'a')), trust, asked(write('b', 'b'), grant), asked(write('c', 'c'))),
    );
    expect(tried.map(({ meets }) => meets.fate)).toEqual(['ask', 'allow', 'ask']);
    expect(tried[1]?.met.why).toBe('grant g3');
  });

  it('dryRunPolicy omits questions, and calls that could not run', async () => {
    const unknown = call('u', 'no-such-tool', {});
    const broken = call('w', 'write-file', { path: 1 });
    const refused = { type: 'refuse', message: 'no' } as const;
    const tried = await tryOn(
      task(
        asked(unknown, refused),
        asked(broken, refused),
        asked(call('q', 'ask-person', { question: 'x' }), { type: 'question' }),
      ),
      { action: 'deny', tool: '*' },
    );
    expect(tried).toEqual([]);
  });

  it('the report has each call with both verdicts, and marks the calls whose verdicts differ', async () => {
    const unasked = { type: 'allow', because: { type: 'auto-execute' } } as const;
    const edits = { type: 'allow', because: { type: 'accept-edits' } } as const;
    const granted = { type: 'allow', because: { type: 'grant', scope: 'tool', callId: 'a' } } as const;
    const tried = await tryOn(
      task(
        asked(write('a', 'a')),
        decided('a', { decision: 'deny' }),
        asked(write('b', 'b'), unasked),
        asked(write('c', 'c'), edits),
        asked(write('d', 'd'), granted),
        asked(write('e', 'e'), { type: 'refuse', message: 'not here' }),
        asked(write('f', 'f')),
      ),
    );
    expect(tried.map(policyDryRunCallText)).toEqual([
      `  ${at(1)} t #2 write-file: write-file a\n    then  asked: denied by ada on the command line\n    now   asks (nothing allows it)`,
      `* ${at(3)} t #4 write-file: write-file b\n    then  ran unasked (mode auto)\n    now   asks (nothing allows it)`,
      `* ${at(4)} t #5 write-file: write-file c\n    then  ran unasked (mode accept-edits)\n    now   asks (nothing allows it)`,
      `* ${at(5)} t #6 write-file: write-file d\n    then  ran unasked (grant given with a)\n    now   asks (nothing allows it)`,
      `* ${at(6)} t #7 write-file: write-file e\n    then  was refused (not here)\n    now   asks (nothing allows it)`,
      `  ${at(7)} t #8 write-file: write-file f\n    then  asked: not decided\n    now   asks (nothing allows it)`,
    ]);
  });

  it('the report says if no verdict changes', async () => {
    expect(policyDryRunSummaryText(summarizePolicyDryRun(await tryOn(task(asked(write('a', 'a'))))))).toBe(
      '1 call of 1 task: 0 would run without a question, 1 would ask, 0 would be refused.\nNo verdict changes.',
    );
  });

  it('a rule that demands presence changes the verdict of a call that only asked', async () => {
    const tried = await tryOn(task(asked(write('a', 'a')), decided('a')), {
      action: 'presence',
      path: 'a',
    });
    expect(tried).toMatchObject([{ met: { fate: 'ask' }, meets: { fate: 'presence' } }]);
    expect(tried.map(policyDryRunCallText).join('')).toContain(
      'now   asks with presence (rule 1 (presence: path "a"))',
    );
    expect(policyDryRunSummaryText(summarizePolicyDryRun(tried))).toMatch(
      /1 would demand presence, .*ask → presence 1/s,
    );
  });

  it('the report escapes every character that could disguise a line', async () => {
    const [tried] = await tryOn(task(asked({ ...write('a', 'a'), title: 'Write a\u001b[2J\nall is well' })));
    expect(z.string().parse(tried && policyDryRunCallText(tried))).not.toMatch(/\p{Cc}\[2J|\nall/u);
  });
});

it('R121 the dry run reports a call whose approver changes', async () => {
  const rule = { action: 'ask', tool: 'write-file', approver: { group: 'release' } };
  const wanted = call('a', 'write-file', { path: 'a.md', content: 'a' });
  const before = { type: 'ask', rule: 'rule 1', approver: { groups: ['release'] } } as const;
  const [changed] = await tryOn(task(asked(wanted)), rule);
  if (changed === undefined) throw new Error('the dry run skipped the call');
  expect(policyDryRunCallText(changed)).toMatch(
    /^\* .*\n.*\n.*now {3}asks \(rule 1 \(ask: tool "write-file"; approver: group release\)\)$/u,
  );
  expect(summarizePolicyDryRun([changed]).changed).toEqual({ 'ask, with another approver': 1 });
  expect(summarizePolicyDryRun(await tryOn(task(asked(wanted, before)), rule)).changed).toEqual({});
  expect(summarizePolicyDryRun(await tryOn(task(asked(wanted, before)))).changed).toEqual({
    'ask, with another approver': 1,
  });
});
