/** Tasks, receivers and settings for tests of push notifications. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { decisionOn } from './a2a-message.ts';
import { cleanUpLater } from './clean-up.ts';
import { append, plan } from './offline-plan.ts';
import { type PushReceiver, pushReceiver } from './push-receiver.ts';
import { PROGRAM, type ServerHome } from './server-program.ts';
import type { SharedStage } from './shared-stage.ts';
import type { TaskView } from './wire-event.ts';

/** The settings of a server that posts to this machine. */
export const local = { args: ['--allow-private-host', '127.0.0.1'] };
/** The same, for the server of the tests that do not end it. */
export const LOCAL = { allowPrivateHost: ['127.0.0.1'] };

/** Starts a receiver. It stops after the test. */
export async function receiving(): Promise<PushReceiver> {
  const receiver = await pushReceiver();
  cleanUpLater(() => receiver.stop());
  return receiver;
}

export const seqs = ({ notifications }: PushReceiver) => notifications.map(({ event }) => event.seq);

/** Returns a condition: the receiver has the end of the task. */
export const ended = (receiver: PushReceiver) => () =>
  receiver.notifications.at(-1)?.event.state === 'COMPLETED';

/** Starts a task that waits for a decision. */
export async function parked({ peer }: Pick<SharedStage, 'peer'>) {
  return peer.send(plan(append('effects.txt', 'one'), { say: 'We end.' }));
}

export async function approve(
  { peer }: Pick<SharedStage, 'peer'>,
  { taskId, pending }: Pick<TaskView, 'taskId' | 'pending'>,
) {
  const stream = await peer.decide(taskId, [decisionOn(pending, 'approve')]);
  await stream.rest();
}

/** Runs `a2a-server` for the state directory of a server. @returns its standard output */
export async function serverCommand({ stateDir }: ServerHome, args: readonly string[]): Promise<string> {
  const all = [PROGRAM, ...args, '--state-dir', stateDir];
  return (await promisify(execFile)(process.execPath, all, { env: { PATH: process.env['PATH'] } })).stdout;
}
