/** Where a person decides beside the client: a line to copy, and the page of the local server. Pure. */
import { pageAddress } from '../../shared/page-address.ts';
import { LOCAL_AGENT } from '../agents/agent.ts';
import type { Session } from '../sessions/session.ts';

/** @param program how a person runs the bridge at a terminal. @returns '' when the session waits for nobody */
export function waysToDecide(
  { id, agent, view }: Pick<Session, 'id' | 'agent' | 'view'>,
  program: string,
): string {
  if (view === undefined || (view.pending.length === 0 && view.question === null)) return '';
  const asks =
    view.pending.length === 0 || view.pending.every(({ decisions }) => decisions.includes('answer'));
  const line = `${program} ${asks ? 'answer' : 'approve'} ${id}`;
  const { url } = agent;
  const page =
    agent.name === LOCAL_AGENT && url !== undefined
      ? `, or on the page ${pageAddress(url, { taskId: view.taskId })}`
      : '';
  return `The person can also decide at a terminal with \`${line}\`${page}.`;
}
