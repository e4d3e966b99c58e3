import { describe, expect, it } from '@jest/globals';
import { PassThrough } from 'node:stream';
import { z } from 'zod';
import { logJournalEntries, logLineOfEvent } from '../../../../a2a-server/startup/event-log-lines.ts';
import type { TaskEvent } from '../../../../a2a-server/task/events.ts';
import { createLogger } from '../../../../shared/runtime/logging.ts';
import {
  completed,
  created,
  delta,
  FINAL_EVENTS,
  inputRequired,
  message,
} from '../../../support/journal-samples.ts';
import { decidedEvent } from '../../../support/folded-task.ts';

const decided = decidedEvent('call-1', {
  title: 'Write secret.txt',
  decision: 'edit',
  by: { principal: 'alice', channel: 'page' },
  reason: 'a better name',
  edited: {
    title: 'Write b.txt',
    input: { content: 'SECRET' },
    inputHash: 'hash',
    preview: { type: 'json', value: 'SECRET' },
    basis: null,
  },
});
const finished = (outcome: Extract<TaskEvent, { type: 'tool.finished' }>['outcome']): TaskEvent => ({
  type: 'tool.finished',
  callId: 'call-1',
  tool: 'run-shell-command',
  title: 'Run it',
  toolId: 'tool-1',
  outcome,
});

describe('a log line of the server', () => {
  it('the line of a task contains time, ids and the task’s session', async () => {
    const written = new PassThrough();
    const log = createLogger({ name: 'test', level: 'info', destination: written });
    logJournalEntries(log, {
      taskId: 'task-1',
      entries: [
        { seq: 1, at: 0, event: created('session-1') },
        { seq: 2, at: 0, event: message('SECRET') },
        { seq: 3, at: 0, event: completed },
      ],
    });
    written.end();
    const lines = await written.toArray().then((chunks) => chunks.join(''));
    const entry = z.looseObject({ time: z.number(), taskId: z.literal('task-1') });
    const parsed = lines
      .trim()
      .split('\n')
      .map((line) => entry.parse(JSON.parse(line)));
    expect(parsed).toMatchObject([
      { msg: 'a task starts', seq: 1, sessionId: 'session-1', principal: 'alice' },
      { msg: 'a task ended', seq: 3, state: 'completed' },
    ]);
    expect(lines).not.toContain('SECRET');
  });

  it('the line of a decision contains its author, action, channel and reason, but not the action’s content', () => {
    const line = logLineOfEvent(decided);
    expect(line).toMatchObject({
      level: 'info',
      facts: {
        callId: 'call-1',
        tool: 'write-file',
        decision: 'edit',
        principal: 'alice',
        channel: 'page',
        reason: 'a better name',
      },
    });
    expect(JSON.stringify(line)).not.toMatch(/SECRET|secret/);
  });

  it('the line of an abort contains the tool execution and the reason; the line of a failure contains no output', () => {
    const stopped = {
      type: 'stopped',
      reason: 'abort-request',
      confirmed: true,
      message: 'm',
      text: 'SECRET',
    } as const;
    expect(logLineOfEvent(finished(stopped))).toEqual({
      level: 'info',
      message: 'a tool was stopped',
      facts: {
        callId: 'call-1',
        tool: 'run-shell-command',
        toolId: 'tool-1',
        reason: 'abort-request',
        message: 'm',
        confirmed: true,
      },
    });
    const failed = logLineOfEvent(finished({ type: 'error', message: 'exit 1: SECRET' }));
    expect(failed).toMatchObject({ level: 'warn', facts: { toolId: 'tool-1' } });
    expect(JSON.stringify(failed)).not.toContain('SECRET');
  });

  it('the line of a task’s end contains the state, and the reason if there is one', () => {
    expect(FINAL_EVENTS.map((event) => logLineOfEvent(event))).toMatchObject([
      { level: 'info', facts: { state: 'completed' } },
      { level: 'warn', facts: { state: 'failed', reason: 'the model refused' } },
      { level: 'info', facts: { state: 'canceled', principal: 'alice', reason: 'asked to' } },
      { level: 'warn', facts: { state: 'rejected', reason: 'no such model' } },
    ]);
    expect(logLineOfEvent(inputRequired)).toMatchObject({ level: 'info', facts: { callIds: [] } });
  });

  it('a task that continues gives one debug line, like every other change of state', () => {
    expect(logLineOfEvent({ type: 'task.working' })).toMatchObject({
      level: 'debug',
      message: 'a task works',
    });
  });

  it('text events give no line, and a long reason is shortened', () => {
    expect(logLineOfEvent(delta('text'))).toBeUndefined();
    const { facts } = logLineOfEvent({ type: 'task.failed', message: 'x'.repeat(5_000) }) ?? {};
    expect(String(facts?.['reason'])).toHaveLength(300);
  });
});
