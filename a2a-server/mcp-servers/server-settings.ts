/** Defines the settings of MCP servers: the `mcpServers` format of MCP clients, with additional settings. */
import { z } from 'zod';
import { parseUrl } from '../../shared/net/parse-url.ts';
import { inputProblem } from '../../shared/text/input-problem.ts';
import { durationSchema } from '../runtime/duration.ts';

const DEFAULT_CALL_LIMIT_MS = 5 * 60_000;

const DEFAULT_PING_INTERVAL_MS = 30_000;
const DEFAULT_PING_ANSWER_LIMIT_MS = 10_000;
/** The maximum of each time limit in the settings. */
const MAX_TIME_LIMIT_MS = 86_400_000;

/** The schema of a time limit: a duration such as `90s`, or milliseconds as in other clients. */
const timeLimit = z.union([
  durationSchema.pipe(z.number({ error: 'it needs a finite time limit' }).max(MAX_TIME_LIMIT_MS)),
  z.int().min(1).max(MAX_TIME_LIMIT_MS),
]);
/** The schema of a time limit, or `never`, which becomes null. */
const optionalLimit = z.union([
  durationSchema.pipe(z.number().max(MAX_TIME_LIMIT_MS).nullable()),
  z.int().min(1).max(MAX_TIME_LIMIT_MS),
]);

const shared = {
  /** If true, the server is not started. */
  disabled: z.boolean().default(false),
  /**
   * The time limit of one tool call, e.g. `90s`, or milliseconds. Time that the call waits for a person does not count.
   */
  timeout: timeLimit.default(DEFAULT_CALL_LIMIT_MS),
  /**
   * A call fails if the server sends nothing about it for this time. `never`, the default, disables this limit. Must be
   * shorter than `timeout`.
   */
  idleTimeout: optionalLimit.default(null),
  /**
   * The time limit to connect, from the start of the program or the first request. A second limit of the same length
   * applies to the tool list. If absent, 60 s.
   */
  connectTimeout: timeLimit.optional(),
  /** The client sends a ping to a server that has sent nothing for this time. `never` disables pings. */
  pingInterval: optionalLimit.default(DEFAULT_PING_INTERVAL_MS),
  /** The time limit for the answer to a ping. */
  pingTimeout: timeLimit.default(DEFAULT_PING_ANSWER_LIMIT_MS),
  /**
   * If true, the server's tools run without approval, as after the decision `trust_server`, and `trustHints` applies.
   * This setting acts as a rule that allows the server. Rules that ask or deny take precedence.
   */
  trust: z.boolean().default(false),
  // MCP 2025-11-25, ToolAnnotations: a client must not rely on the hints of an untrusted server.
  /**
   * Accepts the server's tool annotations: a tool marked as read-only runs without approval, also in read-only tasks.
   * By default annotations allow nothing.
   */
  trustHints: z.boolean().default(false),
  /** Selects the offered tools by their names on the MCP server. */
  tools: z
    .strictObject({
      include: z.array(z.string().min(1)).optional(),
      exclude: z.array(z.string().min(1)).default([]),
    })
    .prefault({}),
};

export const stdioServerSchema = z.strictObject({
  /** The transport of a server with `command`. */
  type: z.literal('stdio').default('stdio'),
  /** A program that speaks MCP on stdin and stdout. It runs without a shell. */
  command: z.string().min(1),
  /** The arguments of the program. */
  args: z.array(z.string()).default([]),
  /** Variables for the program. The program also gets the harmless variables that shell commands get, and no others. */
  env: z.record(z.string().regex(/^[^=\0]+$/), z.string()).default({}),
  /** The working directory of the program. By default, the working directory of `a2a-server`. */
  cwd: z.string().min(1).optional(),
  ...shared,
});

export const remoteServerSchema = z.strictObject({
  /**
   * The transport of a server with `url`. `http` and `streamable-http` are the same. `sse` is the older transport
   * HTTP+SSE of MCP 2024-11-05.
   */
  type: z.enum(['http', 'streamable-http', 'sse']).default('http'),
  /** The URL of a server over HTTP. */
  url: z.string().min(1),
  /** HTTP headers for every request. They are sent only to the origin of `url`. */
  headers: z.record(z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/), z.string()).default({}),
  ...shared,
});

/** Tool names and messages contain the server name, so only harmless characters are valid. */
const serverName = z
  .string()
  .regex(
    /^[A-Za-z0-9](?:[A-Za-z0-9 ._-]{0,38}[A-Za-z0-9])?$/,
    'a name has up to 40 letters, digits, spaces and . _ -',
  );

export const mcpServerConfigsSchema = z.record(serverName, z.unknown().pipe(serverEntry()));

/**
 * Returns the schema of a server's settings. The key `url` selects the schema for a remote server, so that error
 * messages fit the intended kind of server.
 */
function serverEntry() {
  return z.unknown().transform((value, context) => {
    const meant =
      typeof value === 'object' && value !== null && 'url' in value ? remoteServerSchema : stdioServerSchema;
    const parsed = meant.safeParse(value, { error: inputProblem });
    if (parsed.success) {
      const { idleTimeout, timeout } = parsed.data;
      if (idleTimeout === null || idleTimeout < timeout) return parsed.data;
      const message = 'it is not shorter than "timeout", so it would never apply';
      context.addIssue({ code: 'custom', message, path: ['idleTimeout'] });
      return z.NEVER;
    }
    for (const { message, path } of parsed.error.issues)
      context.addIssue({ code: 'custom', message, path: [...path] });
    return z.NEVER;
  });
}

export type McpServerConfigs = z.output<typeof mcpServerConfigsSchema>;
export type McpServerConfig = z.output<typeof stdioServerSchema> | z.output<typeof remoteServerSchema>;

export function isRemoteServer(entry: McpServerConfig): entry is z.output<typeof remoteServerSchema> {
  return 'url' in entry;
}

/** Returns the problem of a URL, if any. The variables in the URL must already be expanded. */
export function serverUrlProblem(text: string): string | undefined {
  const url = parseUrl(text);
  if (url === undefined || !/^https?:$/.test(url.protocol))
    return 'its "url" is not an http or https address';
  // Credentials in the URL would appear in messages and logs.
  if (url.username !== '' || url.password !== '')
    return 'its "url" contains a user or a password; put them into "headers"';
  return undefined;
}
