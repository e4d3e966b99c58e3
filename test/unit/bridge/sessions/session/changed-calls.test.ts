import { expect, test } from '@jest/globals';
import { type StreamResponse, TaskState } from '@a2a-js/sdk';
import { sendDecisions } from '../../../../../bridge/approvals/send-decisions.ts';
import { toPersonDecision } from '../../../../../bridge/approvals/decision-input.ts';
import { geminiDialect } from '../../../../../bridge/dialects/gemini-cli.ts';
import { AskingAgent } from '../../../../support/asking-agent.ts';
import { part, agentMessage } from '../../../../support/fake-agent-task.ts';

const ids = { taskId: 'task-1', contextId: 'session-1' };

/** Returns the event with which gemini-cli asks about a command. */
function asksAbout(command: string): StreamResponse {
  const call = {
    request: { callId: 'c', name: 'run_shell_command', args: { command } },
    status: 'awaiting_approval',
    confirmationDetails: { type: 'exec', command },
  };
  const parts = [part({ $case: 'data', value: call })];
  const message = agentMessage(parts, { ...ids, messageId: `asks-${command}` });
  const status = { state: TaskState.TASK_STATE_INPUT_REQUIRED, message, timestamp: undefined };
  const metadata = { coderAgent: { kind: 'tool-call-confirmation' } };
  return { payload: { $case: 'statusUpdate', value: { ...ids, status, metadata } } };
}

test('D2 an approval is not sent if the agent asks about another command while the bridge claims the decision', async () => {
  const agent = new AskingAgent(geminiDialect);
  const session = agent.session(async () => {
    session.applyEvent(asksAbout('make clean'), agent.connection);
    return undefined;
  });
  session.applyEvent(asksAbout('make'), agent.connection);
  const [action] = session.pendingInput.pending;
  if (action === undefined) throw new Error('nothing is pending');
  const { callId, shown } = action;
  const approval = toPersonDecision({ callId, shown, decision: 'approve' });
  await expect(sendDecisions(session, [approval], 'tool')).rejects.toMatchObject({ reason: 'INPUT_CHANGED' });
  expect(agent.received).toEqual([]);
  session.close();
});
