/**
 * The approval card in a chat. It shows the pending actions of one session, and a person decides them as on the
 * approval page.
 */
import { useCallback, useContext, useEffect, useState } from 'preact/hooks';
import type { Decision, PendingAction } from '../../../../shared/client/index.ts';
import { approvalNeededText, otherApprover } from '../../../../shared/protocol/demanded-approver.ts';
import { messageOf } from '../../../../shared/runtime/errors.ts';
import { visibleLine, visibleText } from '../../../../shared/text/visible-text.ts';
import { ActionView } from '../action/action-view.tsx';
import { dropDrafts } from '../action/drafts.ts';
import { DraftsContext } from '../action/drafts-context.ts';
import { PendingActionView } from '../action/pending-action.tsx';
import type { CardAction, CardSession, CardTools } from './card-tools.ts';
import type { McpAppHost, HostConnection } from './host-connection.ts';

/** The time that one tool call waits for the agent, in seconds. */
const WAIT_SECONDS = 20;
const STATES: Readonly<Record<string, string>> = {
  working: 'The agent works.',
  completed: 'The task is completed.',
  failed: 'The task has failed.',
  cancelled: 'The task was cancelled.',
  rejected: 'The agent has rejected the task.',
};

interface ApprovalCardProps {
  connection: HostConnection;
  host: McpAppHost;
  tools: CardTools;
  sessionId: string;
}

export function ApprovalCard({ connection, host, tools, sessionId }: ApprovalCardProps) {
  const [session, setSession] = useState<CardSession>();
  const [problem, setProblem] = useState<string>();
  const drafts = useContext(DraftsContext);
  const load = useCallback(
    async (waitSeconds = 0): Promise<void> => {
      try {
        setSession(await tools.show(sessionId, waitSeconds));
        setProblem(undefined);
      } catch (error) {
        setProblem(messageOf(error));
      }
    },
    [tools, sessionId],
  );
  useEffect(() => void load(), [load]);
  // While the agent works, each tool call of the bridge waits until the session has changed.
  useEffect(() => {
    if (session?.state === 'working' && problem === undefined) void load(WAIT_SECONDS);
  }, [session, problem, load]);

  const decide = async ({ action, code }: CardAction, decision: Decision): Promise<boolean> => {
    if (code === undefined) return false;
    try {
      const next = await tools.decide(sessionId, code, decision);
      setProblem(undefined);
      dropDrafts(drafts, decision.callId);
      setSession(next);
      if (host.updatesModel)
        await connection
          .updateModel(
            `The person decided "${visibleLine(action.title)}" on the approval card: ${decision.decision}.`,
          )
          .catch(() => undefined);
      return true;
    } catch (error) {
      await load();
      setProblem(messageOf(error));
      return false;
    }
  };
  if (session === undefined && problem === undefined) return <p class="quiet">Loading…</p>;
  return (
    <>
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem} <button onClick={() => void load()}>Load again</button>
        </p>
      )}
      {session !== undefined && (
        <Session connection={connection} host={host} session={session} onDecide={decide} />
      )}
    </>
  );
}

interface SessionProps extends Pick<ApprovalCardProps, 'connection' | 'host'> {
  session: CardSession;
  onDecide: (action: CardAction, decision: Decision) => Promise<boolean>;
}

function Session({ connection, host, session, onDecide }: SessionProps) {
  const { state, message, pending, question, page } = session;
  if (pending.length === 0)
    return (
      <>
        <p>
          {question === undefined
            ? (STATES[state] ?? `The task is in the state ${state}.`)
            : visibleText(question)}
        </p>
        {question !== undefined && <p class="quiet">Answer in the chat.</p>}
        {question === undefined && message !== '' && <p class="quiet message">{visibleText(message)}</p>}
      </>
    );
  return (
    <>
      {pending.map((each) =>
        each.code === undefined ? (
          <ActionView key={each.action.callId} action={each.action}>
            <p class="warning">{whyNotHere(each.action)}</p>
          </ActionView>
        ) : (
          <PendingActionView
            key={each.action.callId}
            action={each.action}
            onDecide={(decision) => onDecide(each, decision)}
          />
        ),
      )}
      {page !== undefined && <PageLink connection={connection} host={host} page={page} />}
    </>
  );
}

/** Says why the person cannot decide this action on the card. */
function whyNotHere(action: PendingAction): string {
  const approver = otherApprover(action);
  if (approver !== undefined) return `${approvalNeededText(approver)}.`;
  return action.presence === true
    ? 'A rule demands your passkey. Decide this on the approval page.'
    : 'Only you can decide this, and not in the chat.';
}

function PageLink({
  connection,
  host,
  page,
}: Pick<ApprovalCardProps, 'connection' | 'host'> & { page: string }) {
  const [shown, setShown] = useState(!host.opensLinks);
  return (
    <p>
      {host.opensLinks && (
        <button class="main" onClick={() => connection.openLink(page).catch(() => setShown(true))}>
          Decide on the approval page
        </button>
      )}
      {shown && <>Decide on the approval page: {page}</>}
    </p>
  );
}
