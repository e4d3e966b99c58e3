import { describe, expect, it } from '@jest/globals';
import { isRefusal } from '../../../../a2a-server/task/command-outcome.ts';
import fc from 'fast-check';
import { buildConversation } from '../../../../a2a-server/task/conversation/conversation.ts';
import { foldAll } from '../../../../a2a-server/task/fold.ts';
import { nextStep } from '../../../../a2a-server/task/next-step.ts';
import {
  isTaskSettled,
  isTerminal,
  waitingCalls,
  TERMINAL_STATES,
} from '../../../../a2a-server/task/snapshot.ts';
import { TaskMachine, moves, type Move } from '../../../support/task-machine.ts';
import { numberOfRuns } from '../../../support/property-runs.ts';

const numRuns = numberOfRuns(1000);

function play(sequence: readonly Move[]): TaskMachine {
  const machine = new TaskMachine();
  for (const move of sequence) machine.apply(move);
  return machine;
}

function holds(property: (machine: TaskMachine) => void): void {
  fc.assert(
    fc.property(moves, (sequence) => property(play(sequence))),
    { numRuns },
  );
}

describe('the task core, for generated histories of a task', () => {
  it('J1 numbers events from 1 without a gap', () => {
    holds(({ entries }) => expect(entries.map((e) => e.seq)).toEqual(entries.map((_, i) => i + 1)));
  });

  it('J2 the snapshot equals the fold of the journal, from any earlier snapshot', () => {
    holds(({ entries, snapshot }) => expect(foldAll('t', entries)).toEqual(snapshot));
  });

  it('J3 nothing follows a terminal event, and every command to an ended task is refused', () => {
    holds(({ entries, rulings }) => {
      const end = entries.findIndex(({ event }) =>
        ['task.completed', 'task.failed', 'task.canceled', 'task.rejected'].includes(event.type),
      );
      expect(end === -1 || end === entries.length - 1).toBe(true);
      for (const { ruling, before } of rulings)
        if (TERMINAL_STATES.has(before.status.state)) expect(isRefusal(ruling)).toBe(true);
    });
  });

  it('E2 a call with side effects starts once; after a lost outcome it starts again only if a person approves', () => {
    holds(({ entries }) => {
      const mayStart = new Map<string, boolean>();
      for (const { event } of entries) {
        if (event.type === 'tool.requested' && event.call.sideEffect !== 'none')
          mayStart.set(event.call.callId, event.verdict.type === 'allow');
        if (event.type === 'tool.decided') mayStart.set(event.callId, event.decision !== 'deny');
        if (event.type === 'tool.started' && mayStart.has(event.callId)) {
          expect(mayStart.get(event.callId)).toBe(true);
          mayStart.set(event.callId, false);
        }
      }
    });
  });

  it('D1 each question has at most one valid decision', () => {
    holds(({ entries }) => {
      const open = new Set<string>();
      for (const { event } of entries) {
        if (event.type === 'tool.requested' && ['ask', 'question'].includes(event.verdict.type))
          open.add(event.call.callId);
        if (event.type === 'tool.asked') open.add(event.call.callId);
        if (event.type === 'tool.withdrew') expect(open.delete(event.callId)).toBe(true);
        if (event.type === 'tool.interrupted' && !event.rerun) open.add(event.callId);
        if (event.type === 'tool.decided') expect(open.delete(event.callId)).toBe(true);
      }
    });
  });

  it('D1 a question is answered or declined and never runs; no other call takes an answer', () => {
    holds(({ entries }) => {
      const questions = new Set<string>();
      for (const { event } of entries) {
        if (event.type === 'tool.asked') questions.add(event.call.callId);
        if (event.type === 'tool.requested' && event.verdict.type === 'question')
          questions.add(event.call.callId);
        if (event.type === 'tool.decided') {
          const words = questions.has(event.callId) ? ['answer', 'deny'] : ['approve', 'deny', 'edit'];
          expect(words).toContain(event.decision);
          expect(event.decision === 'answer').toBe(event.answer !== undefined);
        }
        if (event.type === 'tool.started') expect(questions.has(event.callId)).toBe(false);
      }
    });
  });

  it('D3 while a tool waits for an answer the task has the state "input-required", and every state event says so', () => {
    holds(({ entries }) => {
      for (const [i] of entries.entries()) {
        const told = foldAll('t', entries.slice(0, i + 1));
        if (told === undefined || isTerminal(told)) continue;
        const open = waitingCalls(told).filter(({ askedBy }) => askedBy !== null);
        const next = entries[i + 1]?.event.type;
        if (open.length > 0 && next !== 'input.required') expect(told.status.state).toBe('input-required');
      }
    });
  });

  it('D3 the state is "input-required" exactly while calls wait, and the state lists the calls', () => {
    holds(({ snapshot }) => {
      if (isTerminal(snapshot)) return;
      const waiting = waitingCalls(snapshot).map((call) => call.callId);
      if (snapshot.status.state === 'input-required')
        expect(snapshot.status.pending.map((p) => p.callId)).toEqual(waiting);
      else expect(waiting.length > 0 && nextStep(snapshot).type === 'ask-model').toBe(false);
    });
  });

  it('D3 the model is requested only when every call of its last turn is settled', () => {
    holds(({ entries }) => {
      for (const [i, { event }] of entries.entries()) {
        if (event.type !== 'turn.started') continue;
        const before = foldAll('t', entries.slice(0, i));
        expect(Object.values(before?.calls ?? {}).every((call) => call.state.type === 'settled')).toBe(true);
      }
    });
  });

  it('a task that waits for a reply accepts any message and works again', () => {
    holds((machine) => {
      const { snapshot } = machine;
      if (!isTaskSettled(snapshot) || isTerminal(snapshot) || waitingCalls(snapshot).length > 0) return;
      machine.apply({ type: 'message', text: 'go on' });
      expect(machine.snapshot.status.state).toBe('working');
      expect(nextStep(machine.snapshot).type).not.toBe('settled');
    });
  });

  it('A4 a task can be canceled in every state except an ended one', () => {
    fc.assert(
      fc.property(moves, (sequence) => {
        const machine = play(sequence);
        const ended = isTerminal(machine.snapshot);
        machine.apply({ type: 'cancel' });
        expect(machine.snapshot.status.state === 'canceled' || ended).toBe(true);
        expect(nextStep(machine.snapshot)).toEqual({ type: 'settled' });
      }),
      { numRuns },
    );
  });

  it('R04 no message is lost: the model gets each message once, in order', () => {
    holds(({ snapshot, entries }) => {
      const sent = entries.flatMap(({ event }) =>
        event.type === 'message.received'
          ? event.message.parts.map((p) => (p.type === 'text' ? p.text : ''))
          : [],
      );
      const shown = buildConversation([], snapshot)
        .flatMap((step) => (step.role === 'user' ? [step.text] : []))
        .filter((text) => !text.startsWith('(Your last answer'));
      expect(shown).toEqual(sent);
      if (snapshot.status.state === 'completed') expect(snapshot.queued).toEqual([]);
    });
  });

  it('the model gets a result for every call that it made', () => {
    holds(({ snapshot }) => {
      const steps = buildConversation([], snapshot);
      for (const [i, step] of steps.entries()) {
        if (step.role !== 'assistant' || step.calls.length === 0) continue;
        const next = steps[i + 1];
        expect(next?.role === 'tool' && next.results.map((r) => r.modelCallId)).toEqual(
          step.calls.map((call) => call.modelCallId),
        );
      }
    });
  });

  it('R22 a task that continues after any crash ends or waits for a person', () => {
    fc.assert(
      fc.property(moves, (sequence) => {
        const machine = play([...sequence, { type: 'crash' }]);
        for (let i = 0; i < 100; i += 1) {
          machine.apply({ type: 'step', calls: [], text: '', gives: 'nothing', end: 'stop', cut: 'not' });
          machine.apply({ type: 'finish-tool', pick: 0, ok: true });
        }
        expect(nextStep(machine.snapshot)).toEqual({ type: 'settled' });
      }),
      { numRuns },
    );
  });
});
