/** Calls in the form that policy judges. */
import {
  NO_RESOLVED_TARGETS,
  type ResolvedTargets,
  type CallFacts,
} from '../../a2a-server/policy/call-facts.ts';
import { createPolicy, type Policy } from '../../a2a-server/policy/create-policy.ts';
import { rulesSchema } from '../../a2a-server/policy/rule.ts';

const builtIn = { type: 'built-in' } as const;

export const TOOL_NAMES = ['read-file', 'search-files', 'write-file', 'run-shell-command', 'fetch'];

export function writeCall(path: string, leadsTo = path): CallFacts {
  return call('write-file', 'files', { paths: [{ written: path, leadsTo }] });
}

export function readCall(path: string, leadsTo = path): CallFacts {
  return call('read-file', 'none', { paths: [{ written: path, leadsTo }] });
}

export function searchCall(tree: string): CallFacts {
  return call('search-files', 'none', { trees: [{ written: tree, leadsTo: tree }] });
}

export function commandCall(command: string): CallFacts {
  return call('run-shell-command', 'command', { command });
}

export function fetchCall(...hosts: string[]): CallFacts {
  return call('fetch', 'network', { hosts });
}

export function mcpCall(server: string, tool: string): CallFacts {
  return { tool, source: { type: 'mcp-server', server }, sideEffect: 'other', reach: NO_RESOLVED_TARGETS };
}

function call(tool: string, sideEffect: CallFacts['sideEffect'], reach: Partial<ResolvedTargets>): CallFacts {
  return { tool, source: builtIn, sideEffect, reach: { ...NO_RESOLVED_TARGETS, ...reach } };
}

/** Builds a policy from rules in the configuration file's format. */
export function policyOf(...written: readonly Record<string, unknown>[]): Policy {
  return createPolicy(rulesSchema.parse(written), { tools: TOOL_NAMES, shell: 'sh' });
}
