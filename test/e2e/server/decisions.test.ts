/** Tests invalid, late and conflicting decisions, and the scope of valid decisions. */
import { describe, expect, it } from '@jest/globals';
import { decisionOn, decisionsPart, writtenMessage } from '../../support/a2a-message.ts';
import { refusal, Refusal, rpcBody } from '../../support/rpc-answer.ts';
import { delegate, ENDINGS } from '../../support/connection-ending.ts';
import { makeGate } from '../../support/gate.ts';
import { append, plan, shell } from '../../support/offline-plan.ts';
import { sharedStage } from '../../support/shared-stage.ts';
import { activitiesOf } from '../../support/wire-event.ts';
import { RESUMABLE_STREAM_EXTENSION } from '../../../shared/protocol/resumable-stream-extension.ts';

const INVALID_PARAMS = -32602;

describe('an invalid decision', () => {
  it('R06 a decision with an unknown word is refused, the call still waits, and nothing runs', async () => {
    const { peer, file } = await sharedStage();
    const first = await peer.stream('append "once" to effects.txt');
    const { taskId, pending, seq } = await first.parked();
    const words = ['reject', 'yes', 'APPROVE ', 'Approve', 'approve\n', '', 1, true, null, ['approve'], {}];
    const parts = [
      ...words.map((word) => decisionsPart([decisionOn(pending, word)])),
      decisionsPart([{ callId: pending[0]?.callId }]),
      decisionsPart([]),
      // One invalid decision makes the whole message invalid.
      decisionsPart([decisionOn(pending, 'approve'), decisionOn(pending, 'yes')]),
      decisionsPart([decisionOn(pending, 'approve', { scope: 'forever' })]),
      decisionsPart([decisionOn(pending, 'edit')]),
      // These are decision formats of other systems.
      { data: { callId: pending[0]?.callId, outcome: 'proceed_once' } },
      { data: { callId: pending[0]?.callId, decision: 'approve' } },
    ];
    for (const part of parts) {
      const { reason, code, message } = await refusal(peer.send([part], { taskId }));
      expect({ part, reason, code }).toEqual({ part, reason: 'INVALID_DECISION', code: INVALID_PARAMS });
      expect(message).toContain('Nothing was decided.');
    }
    expect(await peer.task(taskId)).toMatchObject({ seq, state: 'INPUT_REQUIRED', pending });
    expect(await file('effects.txt')).toBeUndefined();
    const right = await peer.decide(taskId, [decisionOn(pending, 'approve')]);
    expect((await right.rest()).at(-1)?.state).toBe('COMPLETED');
    expect(await file('effects.txt')).toBe('once');
  });

  it('R06 only an exact decision word decides, and for a client with the extension no text decides', async () => {
    const { peer, file } = await sharedStage();
    const { taskId, pending, seq } = await (await peer.stream('append "x" to effects.txt')).parked();
    // A client with the extension decides with data. Its text is never a decision.
    const wordsOnly = { 'A2A-Extensions': RESUMABLE_STREAM_EXTENSION };
    const words = ['yes', 'reject', 'APPROVE', 'approve ', 'approve.', 'deny it'];
    for (const [text, headers] of [
      ['approve', {}],
      ...words.map((word) => [word, wordsOnly] as const),
    ] as const) {
      const { reason, facts } = await refusal(peer.send(text, { taskId, headers }));
      expect({ text, reason, waits: facts['pending'] }).toEqual({
        text,
        reason: 'DECISION_NEEDED',
        waits: pending[0]?.callId,
      });
    }
    expect(await peer.task(taskId)).toMatchObject({ seq, state: 'INPUT_REQUIRED' });
    expect(await file('effects.txt')).toBeUndefined();
    await peer.call(
      'SendMessage',
      { message: writtenMessage('approve', { taskId }) },
      { headers: wordsOnly },
    );
    expect(await peer.task(taskId)).toMatchObject({ state: 'COMPLETED' });
    expect(await file('effects.txt')).toBe('x');
  });
});

describe.each(ENDINGS)('decisions after a first connection $name', (ending) => {
  it('R07 a decision on an unknown or decided call gets a typed response with the first decision; nothing runs twice', async () => {
    const { server, peer, file } = await sharedStage();
    const gate = await makeGate(server.workspace);
    const text = plan(shell(`echo ran >> effects.txt; echo running; ${gate.wait}`));
    const first = await delegate(peer, ending, { text });
    const { taskId, pending, seq } = await first.parked();
    const next = await ending.leave(first, peer);

    const unknown = await refusal(
      peer.decide(taskId, [{ callId: 'call-none', shown: 'x', decision: 'approve' }]),
    );
    expect(unknown).toMatchObject({ reason: 'UNKNOWN_CALL', facts: { pending: pending[0]?.callId } });
    expect((await peer.task(taskId)).seq).toBe(seq);

    const second = await peer.decide(taskId, [decisionOn(pending, 'approve')], { over: next });
    await second.output('running');
    const late = async (word: string): Promise<void> => {
      const again = await refusal(peer.decide(taskId, [decisionOn(pending, word)]));
      expect(again).toMatchObject({
        reason: 'ALREADY_DECIDED',
        facts: { callId: pending[0]?.callId, firstDecision: 'approve' },
      });
    };
    await late('approve');
    await late('deny');
    await gate.pass();
    expect((await second.rest()).at(-1)?.state).toBe('COMPLETED');
    await late('approve');
    await late('deny');
    expect(await file('effects.txt')).toBe('ran\n');
    const started = activitiesOf(await peer.history(taskId)).filter(({ type }) => type === 'tool.started');
    expect(started).toHaveLength(1);
  });

  it('R08 of two conflicting decisions at the same time one is accepted, and the other client gets the accepted decision', async () => {
    const { peer, file } = await sharedStage();
    for (let round = 0; round < 6; round += 1) {
      // Each round uses another order. Some rounds send two equal decisions.
      const words =
        [
          ['approve', 'deny'],
          ['deny', 'approve'],
          ['approve', 'approve'],
        ][round % 3] ?? [];
      const name = `effects-${round}.txt`;
      const first = await delegate(peer, ending, { text: `append "once" to ${name}` });
      const { taskId, pending } = await first.parked();
      const lines = [await ending.leave(first, peer), await peer.connect()];
      for (const [n, word] of words.entries()) {
        const part = decisionsPart([decisionOn(pending, word)]);
        const line = lines[n];
        if (line === undefined) throw new Error('there are two clients');
        // Both clients send their decisions before the server answers either of them.
        peer.write(line, '/', {
          body: rpcBody('SendStreamingMessage', { message: writtenMessage([part], { taskId }) }),
        });
      }
      const answers = await Promise.allSettled(
        lines.map(async (line) => (await (await peer.opened(line)).rest()).at(-1)?.state),
      );
      const winner = answers.findIndex(({ status }) => status === 'fulfilled');
      expect(answers[winner]).toMatchObject({ value: 'COMPLETED' });
      const loser: unknown = answers.find((answer) => answer.status === 'rejected')?.reason;
      expect(loser).toBeInstanceOf(Refusal);
      expect(loser).toMatchObject({
        reason: 'ALREADY_DECIDED',
        facts: { firstDecision: words[winner] },
      });
      expect(await file(name)).toBe(words[winner] === 'approve' ? 'once' : undefined);
    }
  });
});

describe('the scope of a decision', () => {
  it('R12 trust with the scope "always" lets later calls run without a question; a built-in tool has no server to trust', async () => {
    const { peer, file } = await sharedStage();
    const text = plan(append('a.txt', '1'), shell('echo 2 >> a.txt'), append('a.txt', '3'));
    const { taskId, pending } = await (await peer.stream(text)).parked();
    const server = decisionOn(pending, 'approve', { scope: 'server' });
    expect((await refusal(peer.decide(taskId, [server]))).reason).toBe('INVALID_DECISION');
    const second = await peer.decide(taskId, [decisionOn(pending, 'approve', { scope: 'always' })]);
    expect((await second.rest()).at(-1)?.state).toBe('COMPLETED');
    expect(await file('a.txt')).toBe('12\n3');
  });

  it('R13 with autoExecute the person is asked about no call, and the journal records all calls', async () => {
    const { peer, file } = await sharedStage();
    const text = plan(append('a.txt', '1'), { together: [append('b.txt', '2'), shell('echo 3')] });
    const stream = await peer.stream(text, { settings: { autoExecute: true } });
    const events = await stream.rest();
    expect(events.at(-1)?.state).toBe('COMPLETED');
    expect(events.filter(({ pending, state }) => pending.length > 0 || state === 'INPUT_REQUIRED')).toEqual(
      [],
    );
    expect([await file('a.txt'), await file('b.txt')]).toEqual(['1', '2']);
    const steps = activitiesOf(events).filter(({ type }) => type !== 'tool.output');
    expect(steps.map(({ type, tool }) => `${type} ${tool}`)).toEqual([
      'tool.requested append-file',
      'tool.started append-file',
      'tool.finished append-file',
      'tool.requested append-file',
      'tool.requested run-shell-command',
      'tool.started append-file',
      'tool.finished append-file',
      'tool.started run-shell-command',
      'tool.finished run-shell-command',
    ]);
    const asked = steps.filter((step) => step.type === 'tool.requested' && step.asks);
    expect(asked).toEqual([]);
  });

  it('R13 a denial of one call does not affect the other calls of the turn', async () => {
    const { peer, file } = await sharedStage();
    const names = ['a.txt', 'b.txt', 'c.txt'];
    const text = plan({ together: names.map((name) => append(name, name)) });
    const { taskId, pending } = await (await peer.stream(text)).parked();
    const decisions = pending.map((action, n) => decisionOn([action], n === 1 ? 'deny' : 'approve'));
    expect((await (await peer.decide(taskId, decisions)).rest()).at(-1)?.state).toBe('COMPLETED');
    expect(await Promise.all(names.map(file))).toEqual(['a.txt', undefined, 'c.txt']);
    const { overview } = await peer.task(taskId);
    expect(overview.calls.map(({ state }) => state)).toEqual(['ok', 'denied', 'ok']);
  });
});

describe('an unknown session', () => {
  it('R15 for an unknown session, the error lists the existing sessions, and no session starts', async () => {
    const { peer } = await sharedStage();
    const none = await refusal(peer.send('say hello', { sessionId: 'session-none' }));
    expect(none).toMatchObject({ reason: 'UNKNOWN_SESSION', facts: { sessions: '' } });
    const one = await peer.send('say one');
    const two = await peer.send('say two');
    for (const send of [
      () => peer.send('say three', { sessionId: 'session-none' }),
      () => peer.stream('say three', { sessionId: 'session-none' }),
      () =>
        peer.decide('', [{ callId: 'c', shown: 'x', decision: 'approve' }], {
          taskId: '',
          sessionId: 'session-none',
        }),
    ]) {
      const { reason, facts, message } = await refusal(send());
      expect(reason).toBe('UNKNOWN_SESSION');
      expect(facts['sessions']?.split(' ')).toEqual([two.sessionId, one.sessionId]);
      expect(message).toContain(one.sessionId);
    }
    expect((await peer.list()).map(({ taskId }) => taskId)).toEqual([two.taskId, one.taskId]);
  });
});
