import { ON_DISCONNECT_VALUES } from '../../http/streams/on-disconnect.ts';
import { resolve } from 'node:path';
import { z } from 'zod';
import { parseUrl } from '../../../shared/net/parse-url.ts';
import { defineSetting, defineSwitch, withVariables } from '../../../shared/settings/resolve-settings.ts';
import type { SettingValues } from '../../../shared/settings/resolve-settings.ts';
import { LOG_LEVELS } from '../../../shared/runtime/logging.ts';
import { taskModeSchema } from '../../../shared/protocol/task-settings.ts';
import { defineDuration } from '../../runtime/duration.ts';
import { MODEL_SETTINGS, type AgentSetting } from '../../models/model-settings.ts';
import { CONFINE_SHELL_VALUES } from '../../tools/shell/confinement.ts';
import { parseHost } from '../../tools/web/allowed-hosts.ts';
import { metricsEndpointSchema } from '../../telemetry/metrics-endpoint.ts';
import { SERVER_DRAFT_PROTOCOLS } from '../../http/wire/draft-protocols.ts';
import { LIMIT_SETTINGS } from './limit-settings.ts';
import { UNFLAGGED_SERVER_SETTINGS } from './unflagged-settings.ts';

export const DEFAULT_PORT = 41242;

const absolutePath = z
  .string()
  .min(1)
  .transform((path) => resolve(path));
const postgresUrl = z.string().refine((url) => /^postgres(?:ql)?:\/\//.test(url) && URL.canParse(url), {
  error: 'it is not a postgres:// URL; special characters of a password must be percent-encoded',
});

/** The setting `agent` as a list of words: `model`, `scripted <file>`, `acp <command> …`. */
const agentChoice: z.ZodType<AgentSetting> = z.union([
  z.tuple([z.literal('model')]).transform(() => ({ type: 'model' as const })),
  z.tuple([z.literal('scripted'), absolutePath]).transform(([type, file]) => ({ type, file })),
  z
    .tuple([z.literal('acp'), z.string().min(1)], z.string())
    .transform(([type, command, ...args]) => ({ type, command, args })),
]);

export const SERVER_SETTINGS = withVariables('A2A_SERVER', {
  host: defineSetting({
    placeholder: 'address',
    schema: z.string().regex(/^[A-Za-z0-9._:-]+$/),
    fallback: '127.0.0.1',
    describe: 'address to listen on',
    allowed: 'an IP address or a host name',
  }),
  port: defineSetting({
    kind: 'number',
    schema: z.number().int().min(0).max(65_535),
    fallback: DEFAULT_PORT,
    describe:
      'port to listen on; 0 chooses a free port; if another program uses the default port, the server also chooses a free one',
    allowed: 'a whole number from 0 to 65535',
  }),
  allowRemote: defineSwitch(
    false,
    'allow an address that other machines can reach; a client with a token can run commands on this machine',
  ),
  publicUrl: defineSetting({
    placeholder: 'url',
    schema: z
      .url({ protocol: /^https?$/ })
      // X1: the URL must have no user and no password, because the agent card shows it to everybody. It must have no
      // query and no fragment, because the page and other addresses are below it.
      .refine((text) => {
        const url = parseUrl(text);
        if (url === undefined) return true; // The check above reports a text that is no URL.
        return !/[?#]/.test(text) && url.username === '' && url.password === '';
      }, 'it has a user, a password, a query or a fragment')
      .optional(),
    describe: "the URL that clients use, if it is not the server's own address",
    allowed: 'an http or https URL without user, password, query and fragment',
  }),
  publicHost: defineSetting({
    kind: 'list',
    placeholder: 'name',
    schema: z.array(z.string().regex(/^[A-Za-z0-9._:-]+$/)),
    fallback: [],
    describe: 'host name that the server accepts besides loopback; may be repeated',
    allowed: 'host names without port',
  }),
  database: defineSetting({
    placeholder: 'url',
    schema: postgresUrl.optional(),
    describe:
      'PostgreSQL database that stores the tasks, e.g. postgres://user@host/name (default: an SQLite file in the state directory; docs/scaling.md); the flag must not contain a password',
    allowed: 'a URL that begins with postgres://',
  }),
  databaseListen: defineSetting({
    placeholder: 'url',
    schema: postgresUrl.optional(),
    describe:
      'URL of the same database for LISTEN, if --database leads to a pooler that does not deliver notifications; the flag must not contain a password',
    allowed: 'a URL that begins with postgres://',
  }),
  label: defineSetting({
    placeholder: 'name',
    schema: z
      .string()
      .regex(/^[\w.-]{1,64}$/)
      .optional(),
    describe:
      'the name of the disk that has the workspaces; with --database, tasks continue on servers with the same label only',
    allowed: '1 to 64 letters, digits and . _ -',
  }),
  allowOrigin: defineSetting({
    kind: 'list',
    placeholder: 'origin',
    schema: z.array(z.string().regex(/^https?:\/\/[^/\s]+$/)),
    fallback: [],
    describe:
      'origin of web pages that may call the server, e.g. https://console.example.com; may be repeated',
    allowed: 'origins: scheme, host and port, without a path',
  }),
  workspace: defineSetting({
    placeholder: 'dir',
    schema: absolutePath.optional(),
    describe: 'workspace of a task that names none (default: the current directory)',
    allowed: 'a directory',
  }),
  allowWorkspace: defineSetting({
    kind: 'list',
    placeholder: 'dir',
    schema: z.array(absolutePath),
    fallback: [],
    describe:
      'directory that contains all workspaces; may be repeated (default: any, except a file system root)',
    allowed: 'directories',
  }),
  mode: defineSetting({
    placeholder: 'mode',
    schema: taskModeSchema,
    fallback: 'ask',
    describe:
      'what a task without a mode may do without approval: nothing with side effects (ask), change files (accept-edits), everything (auto), or only write a plan (plan)',
    allowed: taskModeSchema.options.join(', '),
  }),
  passEnv: defineSetting({
    kind: 'list',
    placeholder: 'name',
    schema: z.array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/)),
    fallback: [],
    describe:
      'environment variable for shell commands besides the harmless ones; may be repeated (default: none, so that no key leaks)',
    allowed: 'names of environment variables',
  }),
  fourEyes: defineSwitch(
    false,
    'a principal who has sent a message to a task cannot approve its actions; another principal of the tenant must',
  ),
  confineShell: defineSetting({
    placeholder: 'how',
    schema: z.enum(CONFINE_SHELL_VALUES),
    fallback: 'off',
    describe:
      'run shell commands in a sandbox that can write only to the workspace (bubblewrap): off (never), auto (if the sandbox works) or require (always; without a working sandbox, the server does not start)',
    allowed: CONFINE_SHELL_VALUES.join(', '),
  }),
  shellNetwork: defineSwitch(false, 'let confined shell commands use the network'),
  allowPrivateHost: defineSetting({
    kind: 'list',
    placeholder: 'host',
    schema: z.array(z.string().refine((entry) => parseHost(entry) !== undefined)),
    fallback: [],
    describe:
      'private or local host that fetch and crawl may read, and push notifications may reach, besides public hosts; may be repeated (default: none)',
    allowed: 'host or host:port, e.g. wiki.intern or 127.0.0.1:8080',
  }),
  cardKey: defineSetting({
    placeholder: 'file',
    schema: absolutePath.optional(),
    describe:
      'PEM file of the private key that signs the agent card (default: the card is not signed; docs/agents.md)',
    allowed: 'the path of a file',
  }),
  ...MODEL_SETTINGS,
  agent: defineSetting({
    kind: 'list',
    placeholder: 'kind...',
    schema: agentChoice,
    fallback: ['model'],
    describe:
      'what runs the tasks: model; scripted <file>, a script with an action for each message; or acp -- <command> [args], an agent that speaks ACP',
    allowed:
      'model; scripted and a file (see docs/scripted-agent.md); or acp, a command and its arguments (see docs/acp-agents.md); with commas between them in the variable',
  }),
  agentIdleTimeout: defineDuration(
    '1h',
    'how long the process of an ACP agent keeps running after its task waits or ends; it starts again when needed (never: it is not stopped)',
  ),
  ...LIMIT_SETTINGS,
  onDisconnect: defineSetting({
    placeholder: ON_DISCONNECT_VALUES.join('|'),
    schema: z.enum(ON_DISCONNECT_VALUES),
    fallback: 'detach',
    describe:
      'what the server does with a running task if its last reader leaves and no client reads it within 10 s (docs/cancellation.md)',
    allowed: 'detach (the task continues) or cancel',
  }),
  idleTimeout: defineDuration(
    '30m',
    'how long a task without a question waits for the next message (never: no limit)',
  ),
  retention: defineDuration(
    '30d',
    'how long the server keeps a session after the end of its last task (never: it deletes none)',
  ),
  preview: defineSetting({
    kind: 'list',
    placeholder: 'name',
    schema: z.array(z.enum(SERVER_DRAFT_PROTOCOLS)),
    fallback: [],
    describe:
      'part of a draft protocol that the server offers although it may still change; may be repeated (default: none; docs/preview.md)',
    allowed: SERVER_DRAFT_PROTOCOLS.join(', '),
  }),
  metrics: defineSetting({
    placeholder: 'where',
    schema: metricsEndpointSchema,
    fallback: 'off',
    describe:
      'offer /metrics for Prometheus: off; on, at the address of the server, with a token; or another address, e.g. 127.0.0.1:9464, without a token (docs/monitoring.md)',
    allowed: 'off, on, or an address and a port',
  }),
  logLevel: defineSetting({
    placeholder: 'level',
    schema: z.enum(LOG_LEVELS),
    fallback: 'info',
    describe: 'log level',
    allowed: LOG_LEVELS.join(', '),
  }),
  logFile: defineSetting({
    placeholder: 'file',
    schema: absolutePath.optional(),
    describe: 'file for the log (default: stderr); at 10 MB its lines move to <file>.1',
    allowed: 'the path of a file',
  }),
});

export const ALL_SERVER_SETTINGS = { ...SERVER_SETTINGS, ...UNFLAGGED_SERVER_SETTINGS };

export interface ServerSettings extends SettingValues<typeof ALL_SERVER_SETTINGS> {
  stateDir: string;
  /** The path of the configuration file, if a flag or a variable names it. */
  configFile: string | undefined;
  /** True if the operator chose the port. False if it is the default. */
  portChosen: boolean;
}
