/** The servers of the black-box test: our server, and a server that is known to lose tasks. */
import { plainAgent } from '../support/fake-agent-plain.ts';
import { plan, wait } from '../support/offline-plan.ts';
import { slowSpeaker } from '../support/slow-speaker.ts';
import type { A2aVersion } from '../../bridge/probe/json-rpc-client.ts';
import type { ProbeSubject } from '../../bridge/probe/probe.ts';
import { Place } from './place.ts';
import type { Programs } from './programs.ts';
import { Random } from './random.ts';

export interface Lent {
  subject: ProbeSubject;
  close: () => Promise<void>;
}

/** A task for the offline model. It produces text, and waits between the parts without side effects. */
export const OFFLINE_TEXT = plan(
  { say: 'One. ', repeat: 3 },
  wait(0.1),
  { say: 'Two. ', repeat: 3 },
  wait(0.1),
  { say: 'Three.' },
);

export async function ourServer(programs: Programs, seed: number, version: A2aVersion): Promise<Lent> {
  const place = await Place.open({ programs, random: new Random(seed, 'blackbox') });
  const { url, token } = await place.serving();
  const restart = async (): Promise<void> => {
    await place.killServer();
    await place.serving();
  };
  return {
    subject: {
      endpoint: { url, headers: { authorization: `Bearer ${token}` } },
      version,
      text: OFFLINE_TEXT,
      restart,
    },
    close: () => place.close(),
  };
}

/**
 * Starts the SDK's own request handler with a task store in memory. A restart starts an empty server at the same
 * address.
 */
export async function bareServer(version: A2aVersion): Promise<Lent> {
  let agent = await plainAgent(version, { executor: slowSpeaker() });
  const { url } = agent;
  const restart = async (): Promise<void> => {
    await agent.stop();
    agent = await plainAgent(version, { executor: slowSpeaker(), port: Number(new URL(url).port) });
  };
  return {
    subject: { endpoint: { url, headers: {} }, version, text: 'Speak.', restart },
    close: () => agent.stop(),
  };
}
