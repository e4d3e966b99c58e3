/** R29 over A2A: a client uses the built server over one connection that stays open. */
import { rm } from 'node:fs/promises';
import { append, plan, shell } from '../support/offline-plan.ts';
import { refusal } from '../support/rpc-answer.ts';
import { homeDirectoryOf, launchServer, newServerHome } from '../support/server-program.ts';
import { A2aConversation } from './a2a-conversation.ts';
import { censusTaker } from './census.ts';
import { soak, type Length, type Soaked } from './soak.ts';

/** @returns the counts, and the stderr of the server */
export async function soakServer(length: Length, program?: string): Promise<Soaked & { log: string }> {
  const taker = await censusTaker();
  const home = await newServerHome();
  const server = launchServer({ home, env: taker.env, ...(program !== undefined && { program }) });
  try {
    const conversation = new A2aConversation(await server.ready);
    const { sessionId } = await conversation.say('say hello');
    const soaked = await soak(
      {
        round: () => converse(conversation, sessionId),
        turns: () => conversation.turns,
        census: () => taker.take(),
      },
      length,
    );
    conversation.close();
    return { ...soaked, log: server.log() };
  } finally {
    await server.kill();
    await rm(homeDirectoryOf(home), { recursive: true, force: true });
    await taker.remove();
  }
}

/** One round: three tasks of a new session, one of the old session, and status requests. */
async function converse(a2a: A2aConversation, oldSession: string): Promise<void> {
  const asked = await a2a.say(plan(append('log.txt', 'one line\n'), { say: 'a word ', repeat: 50 }));
  const { sessionId } = asked;
  await a2a.followBriefly(asked.taskId);
  const approved = await a2a.decide(asked, 'approve');
  await a2a.replay(approved.taskId);
  await a2a.say(plan(shell('echo out; echo err >&2')), { sessionId, settings: { autoExecute: true } });
  const denied = await a2a.decide(await a2a.say('create no.txt with nothing', { sessionId }), 'deny');
  const waiting = await a2a.say('create never.txt with nothing', { sessionId });
  await a2a.call('CancelTask', { id: waiting.taskId });
  await a2a.say('say hello again', { sessionId: oldSession });
  await a2a.call('GetTask', { id: denied.taskId });
  await a2a.call('ListTasks', { contextId: sessionId });
  await refusal(a2a.call('GetTask', { id: 'no-such-task' }));
  for (const { state } of [approved, denied])
    if (state !== 'COMPLETED') throw new Error(`a task ended as ${state}`);
}
