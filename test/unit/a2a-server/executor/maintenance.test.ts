import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { TaskJournal } from '../../../../a2a-server/executor/task-journal/task-journal.ts';
import { TaskMaintenance } from '../../../../a2a-server/executor/maintenance.ts';
import { ClockCheck } from '../../../../a2a-server/executor/clock-check.ts';
import type { Journal } from '../../../../a2a-server/journal/journal.ts';
import { openSqliteJournal } from '../../../../a2a-server/journal/sqlite/sqlite-journal.ts';
import { clockJumpMs, clockJumpText, type ClockReading } from '../../../../shared/state/clock-mark.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import {
  inputRequiredUntil,
  beginning,
  completed,
  continuing,
  delta,
  working,
} from '../../../support/journal-samples.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let clock: FakeClock;
let journal: Journal;
let maintenance: TaskMaintenance;
/** The delay of each timer, in milliseconds. */
let timers: number[];
let failures: unknown[];
/** The tasks that a round has ended. */
let ended: string[];
/** The difference between the wall clock and the fake clock, in milliseconds. */
let jumped: number;
let mark: ClockReading | undefined;
/** The clock jumps that the server reported to the operator. */
let told: number[];

beforeEach(async () => {
  clock = new FakeClock();
  const directory = await temporaryDirectory();
  const path = join(directory, 'journal.db');
  journal = await openSqliteJournal({ path, clock: () => clock.now() });
  timers = [];
  failures = [];
  ended = [];
  jumped = 0;
  mark = undefined;
  told = [];
  const steady = clock.now();
  const clockCheck = new ClockCheck({
    marks: {
      read: () => Promise.resolve(mark),
      write: (reading) => Promise.resolve(void (mark = reading)),
    },
    // The uptime advances with the fake clock, and a jump moves the wall clock only.
    readClocks: () =>
      Promise.resolve({ now: clock.now(), uptimeMs: clock.now() - jumped - steady, boot: 'one' }),
    onChange: (jump) => void told.push(jump),
  });
  maintenance = new TaskMaintenance({
    journal,
    taskJournal: new TaskJournal(journal),
    clock: {
      now: () => clock.now(),
      elapsed: () => clock.elapsed(),
      after(ms, act) {
        timers.push(ms);
        return clock.after(ms, act);
      },
    },
    retentionMs: 30 * DAY,
    clockCheck,
    onEnded: (taskId) => void ended.push(taskId),
    onFailure: (error) => failures.push(error),
  });
});

afterEach(async () => {
  await maintenance.stop();
  await journal.close();
});

async function waiting(taskId: string, ms: number): Promise<void> {
  const until = new Date(clock.now() + ms).toISOString();
  await journal.append(beginning(taskId, { events: [working, inputRequiredUntil(until)] }));
}

async function started(): Promise<void> {
  maintenance.start();
  await maintenance.settled();
}

describe('the maintenance timer', () => {
  it('R14 the timer fires at the next deadline', async () => {
    await waiting('later', 50 * 60_000);
    await waiting('sooner', 20 * 60_000);
    await started();
    expect(timers).toEqual([20 * 60_000]);
    clock.advance(20 * 60_000);
    await maintenance.settled();
    expect(timers.slice(1)).toEqual([30 * 60_000]);
    expect([(await journal.row('sooner'))?.state, (await journal.row('later'))?.state]).toEqual([
      'canceled',
      'input-required',
    ]);
  });

  it('R14 the timer fires every hour, even if the deadline is far away, because no Node timer can wait 2³¹ ms', async () => {
    await waiting('a', 400 * DAY);
    await started();
    for (let hour = 0; hour < 5; hour += 1) {
      clock.advance(HOUR);
      await maintenance.settled();
    }
    expect(timers).toEqual(Array.from({ length: 6 }, () => HOUR));
    expect(clock.pending).toBe(1);
  });

  it('R14 the timer fires earlier if a task with an earlier deadline begins to wait, also during a round', async () => {
    await started();
    maintenance.noteDeadline(clock.now() + 60_000);
    maintenance.noteDeadline(clock.now() + 90_000);
    expect([timers, clock.pending]).toEqual([[HOUR, 60_000], 1]);
    clock.advance(60_000);
    maintenance.noteDeadline(clock.now() + 5_000);
    await maintenance.settled();
    expect(timers.slice(2)).toEqual([5_000]);
  });

  it('R14 the timer fires at the deadline that another server has added', async () => {
    await started();
    await waiting('a', 20 * 60_000);
    await maintenance.lookForDeadlines();
    expect(timers.at(-1)).toBe(20 * 60_000);
    clock.advance(20 * 60_000);
    await maintenance.settled();
    expect((await journal.row('a'))?.state).toBe('canceled');
  });

  it('R14 an overdue deadline of another server starts a round, at most once a minute', async () => {
    await started();
    await waiting('a', -1);
    clock.advance(10_000);
    await maintenance.lookForDeadlines();
    await maintenance.lookForDeadlines();
    expect(timers.slice(1)).toEqual([50_000]);
    clock.advance(50_000);
    await maintenance.settled();
    expect((await journal.row('a'))?.state).toBe('canceled');
  });

  it('the timer stops with the maintenance, and does not start again', async () => {
    await waiting('a', DAY);
    await started();
    await maintenance.stop();
    maintenance.noteDeadline(clock.now() + 1);
    expect(clock.pending).toBe(0);
  });
});

describe('a maintenance round', () => {
  it('R28 if a maintenance round fails, the server reports it and runs the next round a minute later', async () => {
    const deadlines = journal.deadlines.bind(journal);
    await waiting('a', 1_000);
    clock.advance(2_000);
    journal.deadlines = () => Promise.reject(new Error('the disk is full'));
    await started();
    expect([failures, timers]).toEqual([[new Error('the disk is full')], [60_000]]);
    journal.deadlines = deadlines;
    clock.advance(60_000);
    await maintenance.settled();
    expect((await journal.row('a'))?.state).toBe('canceled');
  });

  it('R28 a task with a damaged journal keeps no other task from its end, and no old session from its deletion', async () => {
    await journal.append(beginning('old', { events: [working, completed] }));
    clock.advance(31 * DAY);
    for (const taskId of ['before', 'damaged', 'after']) await waiting(taskId, 1_000);
    const read = journal.read.bind(journal);
    journal.read = async (taskId, ...page) => {
      if (taskId === 'damaged') throw new Error('its journal is damaged');
      return read(taskId, ...page);
    };
    clock.advance(2_000);
    await started();
    const states = await Promise.all(['before', 'damaged', 'after'].map((taskId) => journal.row(taskId)));
    expect(states.map((row) => row?.state)).toEqual(['canceled', 'input-required', 'canceled']);
    expect(ended).toEqual(['before', 'after']);
    expect(await journal.row('old')).toBeUndefined();
    expect([failures, timers]).toEqual([[new Error('its journal is damaged')], [60_000]]);
  });

  it('S1 a maintenance round packs the long journal of a task that waits or has ended, and lets other work run in between', async () => {
    const deltas = Array.from({ length: 4_000 }, (_, i) => delta(String(i)));
    await journal.append(beginning('a', { events: [working, ...deltas] }));
    const maintain = journal.maintain.bind(journal);
    const looked: number[] = [];
    let turns = 0;
    journal.maintain = async (limit) => {
      setImmediate(() => (turns += 1));
      looked.push(await maintain(limit));
      return looked.at(-1) ?? 0;
    };
    await started();
    expect(looked).toEqual([0]);
    await journal.append(continuing('a', 4_002, [completed]));
    const before = await journal.read('a', 0, 10_000);
    clock.advance(HOUR);
    await maintenance.settled();
    expect(looked.slice(1)).toEqual([512, 512, 512, 512, 512, 512, 512, 0]);
    expect(turns).toBeGreaterThanOrEqual(7);
    expect(await journal.read('a', 0, 10_000)).toEqual(before);
  });

  it('J2 a maintenance round ends even if the index lists a task as due and the task’s journal does not', async () => {
    await waiting('a', DAY);
    const deadlines = journal.deadlines.bind(journal);
    journal.deadlines = async (limit) =>
      (await deadlines(limit)).map((row) => ({ ...row, deadline: clock.now() }));
    await started();
    expect((await journal.row('a'))?.state).toBe('input-required');
    expect(clock.pending).toBe(1);
  });
});

function jumpClock(ms: number): void {
  jumped += ms;
  clock.jump(ms);
}

async function aTaskAndAnOldSession(): Promise<void> {
  await waiting('waits', 7 * DAY);
  await journal.append(beginning('ended', { events: [working, completed] }));
}

describe('a clock that jumps', () => {
  it('R103 if the clock jumps by 400 days, no task expires, no session is deleted, and the operator gets a report', async () => {
    await aTaskAndAnOldSession();
    await started();
    jumpClock(400 * DAY);
    clock.advance(HOUR);
    await maintenance.settled();
    expect((await journal.row('waits'))?.state).toBe('input-required');
    expect(await journal.row('ended')).toBeDefined();
    expect(told).toEqual([400 * DAY]);
    clock.advance(DAY);
    await maintenance.settled();
    expect((await journal.row('waits'))?.state).toBe('input-required');
    // After the operator sets the clock back, the server must continue as before.
    jumpClock(-400 * DAY);
    clock.advance(HOUR);
    await maintenance.settled();
    expect(told).toEqual([400 * DAY, 0]);
    expect((await journal.row('waits'))?.state).toBe('input-required');
    for (const ms of [7 * DAY, HOUR]) {
      clock.advance(ms);
      await maintenance.settled();
    }
    expect((await journal.row('waits'))?.state).toBe('canceled');
  });

  it('R103 if the clock jumps while no server runs, no task expires until the operator confirms the clock', async () => {
    await aTaskAndAnOldSession();
    mark = { now: clock.now(), uptimeMs: 5, boot: 'an earlier one' };
    clock.advance(400 * DAY);
    await started();
    expect([(await journal.row('waits'))?.state, told]).toEqual(['input-required', [400 * DAY]]);
    expect(await journal.row('ended')).toBeDefined();
    mark = { now: clock.now(), uptimeMs: clock.now(), boot: 'an earlier one' };
    clock.advance(60_000);
    await maintenance.settled();
    expect((await journal.row('waits'))?.state).toBe('canceled');
    expect(await journal.row('ended')).toBeUndefined();
  });

  it('the server reports no jump if the machine sleeps or the server stops, because the uptime advances too', () => {
    const before = { now: 0, uptimeMs: 10, boot: 'one' };
    expect(clockJumpMs(before, { now: 9 * DAY, uptimeMs: 9 * DAY, boot: 'one' })).toBe(0);
    // After a reboot, the difference is no jump: the machine may have been off for that time.
    expect(clockJumpMs(before, { now: 59 * DAY, uptimeMs: 10, boot: 'two' })).toBe(0);
    expect(clockJumpMs(before, { now: 61 * DAY, uptimeMs: 10, boot: 'two' })).toBe(61 * DAY);
    expect(clockJumpMs(before, { now: -3 * DAY, uptimeMs: 10, boot: 'two' })).toBe(-3 * DAY);
    expect(clockJumpMs(before, { now: -3 * DAY, uptimeMs: 20, boot: 'one' })).toBe(-3 * DAY - 10);
    expect([clockJumpText(400 * DAY), clockJumpText(-1 * DAY)]).toEqual([
      'jumped 400 days ahead',
      'jumped 1 day back',
    ]);
  });
});
