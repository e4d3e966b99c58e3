/**
 * The approval card in a chat. It shows the pending actions of one session, and a person decides them as on the
 * approval page.
 */
import { useCallback, useContext, useEffect, useState } from 'preact/hooks';
import type { Decision, PendingAction } from '../../../../shared/client/index.ts';
import {
  approvalNeededText,
  approverInsteadOfReader,
} from '../../../../shared/protocol/demanded-approver.ts';
import { errorMessageOf } from '../../../../shared/runtime/errors.ts';
import { visibleLine, visibleText } from '../../../../shared/text/visible-text.ts';
import { ActionView } from '../action/action-view.tsx';
import { capitalizedDecidedByText } from '../action/decided-elsewhere-text.ts';
import { dropDraftsOfCall, draftTextsOfCall } from '../action/drafts.ts';
import { TaskDraftsContext } from '../action/drafts-context.ts';
import { PendingActionView } from '../action/pending-action.tsx';
import {
  callIdForRefusal,
  type DecisionRefusal,
  type ShownAction,
  updateShownActions,
  withAcceptedDecision,
} from '../action/shown-actions.ts';
import { UnsentDrafts } from '../action/unsent-drafts.tsx';
import { useKeptFocus } from '../use-kept-focus.ts';
import type { CardAction, SessionAddress, SessionOnCard, CardTools } from './card-tools.ts';
import type { HostInitializeResult, McpAppHostConnection } from './host-connection.ts';

/** The time for which one call of the bridge's tool waits for a change of the session, in seconds. */
const WAIT_SECONDS = 20;
const STATES: Readonly<Record<string, string>> = {
  working: 'The agent works.',
  completed: 'The task is completed.',
  failed: 'The task has failed.',
  cancelled: 'The task was cancelled.',
  rejected: 'The agent has rejected the task.',
};

interface ApprovalCardProps {
  connection: McpAppHostConnection;
  host: HostInitializeResult;
  tools: CardTools;
  address: SessionAddress;
}

export function ApprovalCard({ connection, host, tools, address: { sessionId, agent } }: ApprovalCardProps) {
  const [session, setSession] = useState<SessionOnCard>();
  const [actions, setActions] = useState<readonly ShownAction[]>([]);
  const [problem, setProblem] = useState<string>();
  /**
   * Why the bridge refused the last decision. Unlike `problem`, it does not stop the card from following the session.
   */
  const [refusal, setRefusal] = useState<DecisionRefusal>();
  const drafts = useContext(TaskDraftsContext);
  const box = useKeptFocus<HTMLDivElement>();
  const take = useCallback((next: SessionOnCard): void => {
    setSession(next);
    const pending = next.pending.map(({ action }) => action);
    setActions((before) => updateShownActions(before, pending));
  }, []);
  const load = useCallback(
    async (waitSeconds = 0): Promise<void> => {
      try {
        take(await tools.state({ sessionId, agent }, waitSeconds));
        setProblem(undefined);
      } catch (error) {
        setProblem(errorMessageOf(error));
      }
    },
    [tools, sessionId, agent, take],
  );
  useEffect(() => void load(), [load]);
  const follows = session?.state === 'working' && problem === undefined;
  // While the agent works, the card calls the tool of the bridge repeatedly. Each call waits until the session changes
  // or `WAIT_SECONDS` are over.
  useEffect(() => {
    if (follows) void load(WAIT_SECONDS);
  }, [session, follows, load]);
  // While the agent does not work, the card reads the session when the person comes back to the chat. The person may
  // have decided elsewhere in the meantime, e.g. on the page.
  useEffect(() => {
    const comesBack = (): void => {
      if (!follows && document.visibilityState === 'visible') void load();
    };
    document.addEventListener('visibilitychange', comesBack);
    return () => document.removeEventListener('visibilitychange', comesBack);
  }, [follows, load]);

  const decide = async ({ action, code }: CardAction, decision: Decision): Promise<boolean> => {
    if (code === undefined) return false;
    setRefusal(undefined);
    try {
      const next = await tools.decide({ sessionId, agent }, code, decision);
      setProblem(undefined);
      dropDraftsOfCall(drafts, decision.callId);
      setActions((before) => withAcceptedDecision(before, decision));
      take(next);
      if (host.updatesModel)
        await connection
          .updateModel(
            `The person decided "${visibleLine(action.title)}" on the approval card: ${decision.decision}.`,
          )
          .catch(() => undefined);
      return true;
    } catch (error) {
      setRefusal({ callIds: [decision.callId], message: errorMessageOf(error) });
      await load();
      return false;
    }
  };
  if (session === undefined && problem === undefined) return <p class="quiet">Loading…</p>;
  const loadAgain = (): void => {
    setRefusal(undefined);
    void load();
  };
  const refusedCall = callIdForRefusal(actions, refusal);
  const shownProblem = refusedCall === undefined ? (refusal?.message ?? problem) : problem;
  return (
    <div ref={box} tabIndex={-1}>
      {shownProblem !== undefined && (
        <p class="problem" role="alert">
          {shownProblem} <button onClick={loadAgain}>Load again</button>
        </p>
      )}
      {session !== undefined && (
        <Session
          connection={connection}
          host={host}
          session={session}
          actions={actions}
          problemOf={(callId) => (callId === refusedCall ? refusal?.message : undefined)}
          onDecide={decide}
        />
      )}
    </div>
  );
}

interface SessionProps extends Pick<ApprovalCardProps, 'connection' | 'host'> {
  session: SessionOnCard;
  actions: readonly ShownAction[];
  /** Returns why the bridge refused the last decision on this call. */
  problemOf: (callId: string) => string | undefined;
  onDecide: (action: CardAction, decision: Decision) => Promise<boolean>;
}

function Session({ connection, host, session, actions, problemOf, onDecide }: SessionProps) {
  const waits = actions.some(({ type }) => type === 'waits');
  const { page } = session;
  return (
    <>
      {actions.map((shown) => (
        <OneAction
          key={shown.action.callId}
          shown={shown}
          session={session}
          problem={problemOf(shown.action.callId)}
          onDecide={onDecide}
        />
      ))}
      {!waits && <SessionState session={session} />}
      {waits && page !== undefined && <PageLink connection={connection} host={host} page={page} />}
    </>
  );
}

function SessionState({ session: { state, message, question } }: Pick<SessionProps, 'session'>) {
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
}

interface OneActionProps extends Pick<SessionProps, 'session' | 'onDecide'> {
  shown: ShownAction;
  problem: string | undefined;
}

/**
 * Shows an action that waits. Also shows an action that was decided elsewhere, if the person has written something for
 * it.
 */
function OneAction({ shown: { type, action }, session, problem, onDecide }: OneActionProps) {
  const drafts = useContext(TaskDraftsContext);
  const { callId } = action;
  if (type === 'decided-here') return null;
  if (type === 'gone') {
    if (draftTextsOfCall(drafts, callId).length === 0) return null;
    const decision = session.decided.find((each) => each.callId === callId);
    return (
      <ActionView action={action} waits={false}>
        <p class="outcome">
          {decision === undefined ? 'This action no longer waits.' : `${capitalizedDecidedByText(decision)}.`}
        </p>
        <UnsentDrafts callId={callId} />
      </ActionView>
    );
  }
  const pending = session.pending.find((each) => each.action.callId === callId);
  if (pending?.code === undefined)
    return (
      <ActionView action={action} waits>
        <p class="warning">{whyNotHere(action)}</p>
      </ActionView>
    );
  return (
    <PendingActionView
      action={action}
      problem={problem}
      onDecide={(decision) => onDecide(pending, decision)}
    />
  );
}

/** Says why the person cannot decide this action on the card. */
function whyNotHere(action: PendingAction): string {
  const approver = approverInsteadOfReader(action);
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
        <button class="main" onClick={() => void connection.openLink(page).catch(() => setShown(true))}>
          Decide on the approval page
        </button>
      )}
      {shown && <>Decide on the approval page: {page}</>}
    </p>
  );
}
