/** What policy says of a call: run it, ask a person, or refuse it. Pure. */
import type { SideEffect, TaskSettings, ToolSource } from '../../shared/protocol/tool-approval.ts';
import type { Verdict } from '../task/events.ts';
import type { Grant } from '../task/snapshot.ts';

/** What of a call policy looks at. */
export interface Judged {
  tool: string;
  source: ToolSource;
  sideEffect: SideEffect;
}

export function verdict(call: Judged, settings: TaskSettings, grants: readonly Grant[]): Verdict {
  if (call.sideEffect === 'none') return { type: 'allow', because: { type: 'read-only' } };
  if (settings.readOnly)
    return {
      type: 'refuse',
      message: `This task may only look: ${call.tool} has side effects and was not run.`,
    };
  if (settings.autoExecute) return { type: 'allow', because: { type: 'auto-execute' } };
  const grant = grants.find((given) => reaches(given, call));
  if (grant) return { type: 'allow', because: { type: 'grant', scope: grant.scope, callId: grant.callId } };
  return { type: 'ask' };
}

function reaches(grant: Grant, call: Judged): boolean {
  switch (grant.scope) {
    case 'always':
      return true;
    case 'server':
      return serverOf(grant.source) === serverOf(call.source);
    case 'tool':
      return grant.tool === call.tool && serverOf(grant.source) === serverOf(call.source);
  }
}

/** The party that offers a tool. A grant for a server is never given for a built-in one. */
function serverOf(source: ToolSource): string {
  switch (source.type) {
    case 'built-in':
      return 'built-in';
    case 'mcp-server':
      return `mcp:${source.server}`;
    case 'acp-agent':
      return `acp:${source.agent}`;
  }
}
