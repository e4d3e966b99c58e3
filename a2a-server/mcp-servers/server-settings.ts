/** MCP servers as they are configured: the `mcpServers` form that MCP clients share, and what this server adds to it. */
import { z } from 'zod';
import { parseUrl } from '../../shared/parse-url.ts';
import { settingProblem } from '../../shared/setting-problem.ts';
import { duration } from '../duration.ts';

/** A call without a limit of its own, in milliseconds. */
const CALL_MS = 5 * 60_000;

/** `90s`, or milliseconds as other clients have it. */
const timeLimit = z.union([
  duration.pipe(z.number({ error: 'a call of a server must come to an end' })),
  z.int().min(1).max(86_400_000),
]);

const shared = {
  /** Kept in the file, but not started. */
  disabled: z.boolean().default(false),
  /** Longest time for one call, in milliseconds once parsed. */
  timeout: timeLimit.default(CALL_MS),
  /** Its tools run without a question from the start, as after the decision `trust_server`; its hints are believed. */
  trust: z.boolean().default(false),
  /**
   * MCP 2025-11-25, ToolAnnotations: hints of a server that is not trusted must not be relied on. Where this is true, a tool
   * that says it is read-only runs without a question.
   */
  trustHints: z.boolean().default(false),
  /** Which of its tools are offered, by the names the server gives them. */
  tools: z
    .strictObject({
      include: z.array(z.string().min(1)).optional(),
      exclude: z.array(z.string().min(1)).default([]),
    })
    .prefault({}),
};

const stdio = z.strictObject({
  type: z.literal('stdio').default('stdio'),
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: z.record(z.string().regex(/^[^=\0]+$/), z.string()).default({}),
  cwd: z.string().min(1).optional(),
  ...shared,
});

const remote = z.strictObject({
  /** `sse` is the older HTTP+SSE of MCP 2024-11-05. */
  type: z.enum(['http', 'streamable-http', 'sse']).default('http'),
  url: z.string().min(1),
  headers: z.record(z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/), z.string()).default({}),
  ...shared,
});

/** Part of the names of its tools, and of what people are told. */
const serverName = z
  .string()
  .regex(
    /^[A-Za-z0-9](?:[A-Za-z0-9 ._-]{0,38}[A-Za-z0-9])?$/,
    'a name has up to 40 letters, digits and . _ -',
  );

export const mcpServerSettings = z.record(serverName, z.unknown().pipe(serverEntry()));

/** By `command` or `url`, so that what is wrong is told of the kind that was meant. */
function serverEntry() {
  return z.unknown().transform((value, context) => {
    const meant = typeof value === 'object' && value !== null && 'url' in value ? remote : stdio;
    const parsed = meant.safeParse(value, { error: settingProblem });
    if (parsed.success) return parsed.data;
    for (const { message, path } of parsed.error.issues)
      context.addIssue({ code: 'custom', message, path: [...path] });
    return z.NEVER;
  });
}

export type McpServerSettings = z.output<typeof mcpServerSettings>;
export type McpServerEntry = z.output<typeof stdio> | z.output<typeof remote>;

export function isRemote(entry: McpServerEntry): entry is z.output<typeof remote> {
  return 'url' in entry;
}

/** @returns what is wrong with the address of a server, if something is: it is looked at when its variables are known. */
export function addressProblem(text: string): string | undefined {
  const url = parseUrl(text);
  if (url === undefined || !/^https?:$/.test(url.protocol))
    return 'its "url" is not an http or https address';
  // They would end up in messages and logs.
  if (url.username !== '' || url.password !== '')
    return 'its "url" holds a user or a password; put them into "headers"';
  return undefined;
}
