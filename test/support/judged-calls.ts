/** Calls in the form that policy judges. */
import { NO_REACH, type CallReach, type Judged } from '../../a2a-server/policy/judged-call.ts';
import { createPolicy, type Policy } from '../../a2a-server/policy/policy.ts';
import { rules } from '../../a2a-server/policy/rule.ts';

const builtIn = { type: 'built-in' } as const;

export const TOOLS = ['read-file', 'search-files', 'write-file', 'run-shell-command', 'fetch'];

export function writing(path: string, leadsTo = path): Judged {
  return call('write-file', 'files', { paths: [{ written: path, leadsTo }] });
}

export function reading(path: string, leadsTo = path): Judged {
  return call('read-file', 'none', { paths: [{ written: path, leadsTo }] });
}

export function searching(tree: string): Judged {
  return call('search-files', 'none', { trees: [{ written: tree, leadsTo: tree }] });
}

export function running(command: string): Judged {
  return call('run-shell-command', 'command', { command });
}

export function fetching(...hosts: string[]): Judged {
  return call('fetch', 'network', { hosts });
}

export function ofServer(server: string, tool: string): Judged {
  return { tool, source: { type: 'mcp-server', server }, sideEffect: 'other', reach: NO_REACH };
}

function call(tool: string, sideEffect: Judged['sideEffect'], reach: Partial<CallReach>): Judged {
  return { tool, source: builtIn, sideEffect, reach: { ...NO_REACH, ...reach } };
}

/** Builds a policy from rules in the configuration file's format. */
export function policyOf(...written: readonly Record<string, unknown>[]): Policy {
  return createPolicy(rules.parse(written), { tools: TOOLS, shell: 'sh' });
}
