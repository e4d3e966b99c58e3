import type { OnRefused } from '../../limits/concurrency-limiter.ts';
import type { AgentCommands } from '../../agent-commands/agent-commands.ts';
import type { TaskMode } from '../../../shared/protocol/tool-approval.ts';
import type { Executor, ExecutorOptions } from '../executions/executor.ts';
import type { TaskJournal } from '../task-journal/task-journal.ts';
import type { PresenceVerifier } from './resolve-decisions.ts';

/** What the acceptance of a message needs. */
export interface MessageContext extends Pick<
  ExecutorOptions,
  'journal' | 'ids' | 'models' | 'clock' | 'policy' | 'toolbox' | 'openWorkspace' | 'writingLimits'
> {
  taskJournal: TaskJournal;
  executor: Pick<Executor, 'wake' | 'reserve' | 'command'>;
  commands: AgentCommands;
  mode: TaskMode;
  /** Called when a limit refuses a message. */
  onRefused: OnRefused;
  /** Checks the assertions of passkeys. */
  presence: PresenceVerifier;
}
