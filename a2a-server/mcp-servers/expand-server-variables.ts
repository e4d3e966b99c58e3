/**
 * Expands `${NAME}` and `${NAME:-default}` in the settings of MCP servers. Secrets can then stay in the environment.
 */
import { ProductError } from '../../shared/runtime/errors.ts';
import type { Environment } from '../../shared/runtime/environment.ts';
import {
  serverUrlProblem,
  isRemoteServer,
  type McpServerConfig,
  type McpServerConfigs,
} from './server-settings.ts';

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/**
 * Returns the servers to start, with all variables expanded. `a2a-server` reports a missing variable at its start, and
 * not in the first task.
 * @throws ProductError CONFIGURATION, which names the server and the variable, but no value
 */
export function resolveEnabledServers(
  settings: McpServerConfigs,
  env: Environment,
): Map<string, McpServerConfig> {
  const started = Object.entries(settings).filter(([, entry]) => !entry.disabled);
  return new Map(started.map(([name, entry]) => [name, expandServer(name, entry, env)]));
}

function expandServer(name: string, entry: McpServerConfig, env: Environment): McpServerConfig {
  const put = (text: string): string =>
    text.replace(REFERENCE, (_, variable: string, otherwise: string | undefined) => {
      const value = env[variable];
      // As in a shell, `:-` also replaces an empty value.
      if (otherwise !== undefined) return value || otherwise;
      if (value !== undefined) return value;
      throw invalidServerError(name, `it needs the environment variable ${variable}, which is not set`);
    });
  if (!isRemoteServer(entry))
    return {
      ...entry,
      command: put(entry.command),
      args: entry.args.map(put),
      env: expandValues(entry.env, put),
      ...(entry.cwd !== undefined && { cwd: put(entry.cwd) }),
    };
  const url = put(entry.url);
  const problem = serverUrlProblem(url);
  if (problem !== undefined) throw invalidServerError(name, problem);
  const headers = expandValues(entry.headers, put);
  for (const [header, value] of Object.entries(headers))
    if (/[\r\n\0]/.test(value))
      throw invalidServerError(name, `the value of its header "${header}" has a line break`);
  return { ...entry, url, headers };
}

function expandValues(
  values: Readonly<Record<string, string>>,
  put: (text: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, put(value)]));
}

function invalidServerError(name: string, problem: string): ProductError {
  return new ProductError(
    'CONFIGURATION',
    `Setting "mcpServers" is not valid for the server "${name}": ${problem}. Correct it, or set "disabled": true there.`,
    { facts: { key: 'mcpServers', server: name } },
  );
}
