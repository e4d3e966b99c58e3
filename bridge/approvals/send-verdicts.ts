/** Sending a person's decisions to the agent, whatever way they came. */
import { randomUUID } from 'node:crypto';
import type { Verdict } from '../dialects/dialect.ts';
import type { Session } from '../sessions/session.ts';
import type { Channel } from './ladder.ts';

/**
 * Resolves when the agent has them. It records the channel with each decision.
 * @throws ProductError when they were refused: the first valid decision wins, and later ones are told so (D1)
 */
export async function sendVerdicts(
  session: Session,
  verdicts: readonly Verdict[],
  channel: Channel,
): Promise<void> {
  const { messageOf } = await import('../sessions/message.ts');
  const messageId = randomUUID();
  const { asked } = session;
  let unheard: readonly string[] = [];
  await session.deliver(
    (dialect) => {
      const phrase = dialect.phraseVerdicts(verdicts, asked, channel);
      unheard = phrase.notes ?? [];
      return messageOf(phrase, {
        messageId,
        sessionId: session.id,
        taskId: session.view?.taskId ?? null,
      });
    },
    asked.question === null ? {} : { answers: asked.question.id },
  );
  session.leaveNotes(unheard);
}
