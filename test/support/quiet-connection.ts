/** A connection to an agent without a socket. The agent gives only the answers of the test. */
import type { A2aConnection } from '../../bridge/agents/connection.ts';
import { toolApprovalDialect } from '../../bridge/dialects/tool-approval.ts';

/** @param answers the methods that the test replaces; all other methods find nothing */
export function quietConnection(
  answers: Pick<A2aConnection, 'send' | 'follow' | 'task' | 'cancel' | 'list'> & Partial<A2aConnection>,
): A2aConnection {
  return {
    url: 'http://127.0.0.1',
    facts: {
      name: '',
      description: '',
      version: '',
      streaming: true,
      interfaces: [],
      extensions: [],
      skills: [],
      inputModes: [],
    },
    dialect: toolApprovalDialect,
    deduplicates: true,
    staysOpen: true,
    findByPrefix: () => Promise.resolve(null),
    costs: () => Promise.resolve(null),
    taskCosts: () => Promise.resolve(null),
    receipt: () => Promise.resolve(null),
    receiptKey: () => Promise.resolve(null),
    commands: () => Promise.resolve(null),
    execute: () => Promise.resolve(null),
    abortTool: () => Promise.resolve(null),
    isJournalUnreachable: () => Promise.resolve(false),
    pageLink: () => Promise.resolve(null),
    ...answers,
  };
}
