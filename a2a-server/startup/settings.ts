/** Defines the server's settings: names, types, defaults and help texts. */
import { ON_DISCONNECT } from '../http/streams/disconnects.ts';
import { resolve } from 'node:path';
import { z } from 'zod';
import { setting } from '../../shared/settings/config.ts';
import type { SettingValues } from '../../shared/settings/config.ts';
import { LOG_LEVELS } from '../../shared/runtime/logging.ts';
import { TOKEN_PATTERN } from '../../shared/state/token-file.ts';
import { FILE_TYPES } from '../../shared/protocol/attached-file.ts';
import { taskModeSchema } from '../../shared/protocol/tool-approval.ts';
import { rulesSchema } from '../policy/rule.ts';
import { durationSchema, DURATION_ALLOWED } from '../../shared/settings/duration.ts';
import { mcpServerSettingsSchema } from '../mcp-servers/server-settings.ts';
import {
  DEFAULT_WINDOW,
  modelIdSchema,
  modelSettingsSchema,
  type AgentChoice,
} from '../models/model-settings.ts';
import { CONFINE_SHELL } from '../tools/shell/confinement.ts';
import { parseHost } from '../tools/web/allowed-hosts.ts';
export const DEFAULT_PORT = 41242;

const absolutePath = z
  .string()
  .min(1)
  .transform((path) => resolve(path));
const MODEL_ALLOWED = 'offline, or provider:model, e.g. anthropic:claude-sonnet-4-5';

function limit(env: string, fallback: string, describe: string) {
  return setting({
    kind: 'text',
    placeholder: 'time',
    schema: durationSchema,
    fallback,
    env,
    describe: `${describe}; or never`,
    allowed: DURATION_ALLOWED,
  });
}

function budget(env: string, fallback: number | undefined, what: string) {
  return setting({
    kind: 'number',
    schema: z.number().int().min(1).optional(),
    fallback,
    env,
    describe: `how many ${what} a task may use before it asks a person whether to continue${fallback === undefined ? ' (default: no limit)' : ''}`,
    allowed: 'a whole number from 1',
  });
}

/** The setting `agent` as a list of words: `model`, `scripted <file>`, `acp <command> …`. */
const agentChoice: z.ZodType<AgentChoice> = z.union([
  z.tuple([z.literal('model')]).transform(() => ({ type: 'model' as const })),
  z.tuple([z.literal('scripted'), absolutePath]).transform(([type, file]) => ({ type, file })),
  z
    .tuple([z.literal('acp'), z.string().min(1)], z.string())
    .transform(([type, command, ...args]) => ({ type, command, args })),
]);

export const SERVER_SETTINGS = {
  host: setting({
    kind: 'text',
    placeholder: 'address',
    schema: z.string().regex(/^[A-Za-z0-9._:-]+$/),
    fallback: '127.0.0.1',
    env: 'A2A_SERVER_HOST',
    describe: 'address to listen on',
    allowed: 'an IP address or a host name',
  }),
  port: setting({
    kind: 'number',
    schema: z.number().int().min(0).max(65_535),
    fallback: DEFAULT_PORT,
    env: 'A2A_SERVER_PORT',
    describe:
      'port to listen on; 0 chooses a free port; if another program uses the default port, the server also chooses a free one',
    allowed: 'a whole number from 0 to 65535',
  }),
  allowRemote: setting({
    kind: 'boolean',
    schema: z.boolean(),
    fallback: false,
    env: 'A2A_SERVER_ALLOW_REMOTE',
    describe:
      'allow an address that other machines can reach; a client with a token can run commands on this machine',
    allowed: 'true or false',
  }),
  publicUrl: setting({
    kind: 'text',
    placeholder: 'url',
    schema: z.url({ protocol: /^https?$/ }).optional(),
    fallback: undefined,
    env: 'A2A_SERVER_PUBLIC_URL',
    describe: "the URL that clients use, if it is not the server's own address",
    allowed: 'an http or https URL',
  }),
  publicHost: setting({
    kind: 'list',
    placeholder: 'name',
    schema: z.array(z.string().regex(/^[A-Za-z0-9._:-]+$/)),
    fallback: [],
    env: 'A2A_SERVER_PUBLIC_HOST',
    describe: 'host name that the server accepts besides loopback; may be repeated',
    allowed: 'host names without port',
  }),
  allowOrigin: setting({
    kind: 'list',
    placeholder: 'origin',
    schema: z.array(z.string().regex(/^https?:\/\/[^/\s]+$/)),
    fallback: [],
    env: 'A2A_SERVER_ALLOW_ORIGIN',
    describe:
      'origin of web pages that may call the server, e.g. https://console.example.com; may be repeated',
    allowed: 'origins: scheme, host and port, without a path',
  }),
  workspace: setting({
    kind: 'text',
    placeholder: 'dir',
    schema: absolutePath.optional(),
    fallback: undefined,
    env: 'A2A_SERVER_WORKSPACE',
    describe: 'workspace of a task that names none (default: the current directory)',
    allowed: 'a directory',
  }),
  allowWorkspace: setting({
    kind: 'list',
    placeholder: 'dir',
    schema: z.array(absolutePath),
    fallback: [],
    env: 'A2A_SERVER_ALLOW_WORKSPACE',
    describe:
      'directory that contains all workspaces; may be repeated (default: any, except a file system root)',
    allowed: 'directories',
  }),
  mode: setting({
    kind: 'text',
    placeholder: 'mode',
    schema: taskModeSchema,
    fallback: 'ask',
    env: 'A2A_SERVER_MODE',
    describe:
      'what a task without a mode may do without approval: nothing with side effects (ask), change files (accept-edits), everything (auto), or only write a plan (plan)',
    allowed: taskModeSchema.options.join(', '),
  }),
  passEnv: setting({
    kind: 'list',
    placeholder: 'name',
    schema: z.array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/)),
    fallback: [],
    env: 'A2A_SERVER_PASS_ENV',
    describe:
      'environment variable for shell commands besides the harmless ones; may be repeated (default: none, so that no key leaks)',
    allowed: 'names of environment variables',
  }),
  confineShell: setting({
    kind: 'text',
    placeholder: 'how',
    schema: z.enum(CONFINE_SHELL),
    fallback: 'off',
    env: 'A2A_SERVER_CONFINE_SHELL',
    describe:
      'run shell commands in a sandbox that can write only to the workspace (bubblewrap): off never, auto if the sandbox works, require always, and the server refuses to start without it',
    allowed: CONFINE_SHELL.join(', '),
  }),
  shellNetwork: setting({
    kind: 'boolean',
    schema: z.boolean(),
    fallback: false,
    env: 'A2A_SERVER_SHELL_NETWORK',
    describe: 'let confined shell commands use the network',
    allowed: 'true or false',
  }),
  allowPrivateHost: setting({
    kind: 'list',
    placeholder: 'host',
    schema: z.array(z.string().refine((entry) => parseHost(entry) !== undefined)),
    fallback: [],
    env: 'A2A_SERVER_ALLOW_PRIVATE_HOST',
    describe:
      'private or local host that the tools fetch and crawl may read besides public hosts; may be repeated (default: none)',
    allowed: 'host or host:port, e.g. wiki.intern or 127.0.0.1:8080',
  }),
  model: setting({
    kind: 'text',
    schema: modelIdSchema,
    fallback: 'offline',
    env: 'A2A_SERVER_MODEL',
    describe: 'default model: offline, or provider:model',
    placeholder: 'id',
    allowed: MODEL_ALLOWED,
  }),
  fastModel: setting({
    kind: 'text',
    placeholder: 'id',
    schema: modelIdSchema.optional(),
    fallback: undefined,
    env: 'A2A_SERVER_FAST_MODEL',
    describe: 'model of the tier "fast" (default: the default model)',
    allowed: MODEL_ALLOWED,
  }),
  smartModel: setting({
    kind: 'text',
    placeholder: 'id',
    schema: modelIdSchema.optional(),
    fallback: undefined,
    env: 'A2A_SERVER_SMART_MODEL',
    describe: 'model of the tier "smart" (default: the default model)',
    allowed: MODEL_ALLOWED,
  }),
  otherModel: setting({
    kind: 'list',
    placeholder: 'id',
    schema: z.array(modelIdSchema),
    fallback: [],
    env: 'A2A_SERVER_OTHER_MODEL',
    describe: 'another model that tasks may choose by id; may be repeated',
    allowed: MODEL_ALLOWED,
  }),
  agent: setting({
    kind: 'list',
    placeholder: 'kind...',
    schema: agentChoice,
    fallback: ['model'],
    env: 'A2A_SERVER_AGENT',
    describe:
      'what runs the tasks: model; scripted <file>, a script with an action for each message; or acp -- <command> [args], an agent that speaks ACP',
    allowed:
      'model; scripted and a file (see docs/scripted-agent.md); or acp, a command and its arguments (see docs/acp-agents.md); with commas between them in the variable',
  }),
  agentIdleTimeout: setting({
    kind: 'text',
    placeholder: 'time',
    schema: durationSchema,
    fallback: '1h',
    env: 'A2A_SERVER_AGENT_IDLE_TIMEOUT',
    describe:
      'how long the process of an ACP agent keeps running after its task waits or ends, or never to stop it; it starts again when needed',
    allowed: DURATION_ALLOWED,
  }),
  toolTimeout: limit(
    'A2A_SERVER_TOOL_TIMEOUT',
    '1h',
    'maximum time for one tool execution; then the server stops it',
  ),
  modelTimeout: limit(
    'A2A_SERVER_MODEL_TIMEOUT',
    '10m',
    'maximum time for one answer of the model; then the task fails, and its session can continue',
  ),
  turnTimeout: limit(
    'A2A_SERVER_TURN_TIMEOUT',
    'never',
    'maximum working time for one turn (an answer and its tool calls); then the server stops the rest of the turn',
  ),
  taskTimeout: limit(
    'A2A_SERVER_TASK_TIMEOUT',
    'never',
    'maximum working time for one task; then the task fails; waiting for a person does not count',
  ),
  grace: setting({
    kind: 'text',
    placeholder: 'time',
    schema: durationSchema.pipe(z.number({ error: 'it must be finite, because a stopped tool must end' })),
    fallback: '5s',
    env: 'A2A_SERVER_GRACE',
    describe: 'how long a stopped tool may run before its processes are killed',
    allowed: 'a number with s, m, h or d, e.g. 5s',
  }),
  budgetTurns: budget('A2A_SERVER_BUDGET_TURNS', 200, 'turns of the model'),
  budgetToolCalls: budget('A2A_SERVER_BUDGET_TOOL_CALLS', undefined, 'tool calls'),
  budgetTokens: budget('A2A_SERVER_BUDGET_TOKENS', undefined, 'tokens, input and output together,'),
  budgetCost: setting({
    kind: 'number',
    placeholder: 'dollars',
    schema: z.number().positive().optional(),
    fallback: undefined,
    env: 'A2A_SERVER_BUDGET_COST',
    describe:
      'how many US dollars a task may cost, by the known or configured prices, before it asks a person whether to continue (default: no limit)',
    allowed: 'a number above 0',
  }),
  budgetCostPerDay: setting({
    kind: 'number',
    placeholder: 'dollars',
    schema: z.number().positive().optional(),
    fallback: undefined,
    env: 'A2A_SERVER_BUDGET_COST_PER_DAY',
    describe:
      'how many US dollars all tasks of a principal may cost on one day (UTC) before each asks a person whether to continue (default: no limit)',
    allowed: 'a number above 0',
  }),
  budgetTime: limit(
    'A2A_SERVER_BUDGET_TIME',
    'never',
    'working time after which a task asks a person whether to continue',
  ),
  decisionTimeout: setting({
    kind: 'text',
    placeholder: 'time',
    schema: durationSchema,
    fallback: '7d',
    env: 'A2A_SERVER_DECISION_TIMEOUT',
    describe:
      'how long an action waits for a decision, or a question for an answer, before the server cancels the task; or never',
    allowed: DURATION_ALLOWED,
  }),
  onDisconnect: setting({
    kind: 'text',
    placeholder: ON_DISCONNECT.join('|'),
    schema: z.enum(ON_DISCONNECT),
    fallback: 'detach',
    env: 'A2A_SERVER_ON_DISCONNECT',
    describe:
      'what the server does with a running task if its last reader leaves and no client reads it within 10 s',
    allowed: 'detach (the task continues) or cancel',
  }),
  idleTimeout: setting({
    kind: 'text',
    placeholder: 'time',
    schema: durationSchema,
    fallback: '30m',
    env: 'A2A_SERVER_IDLE_TIMEOUT',
    describe: 'how long a task without a question waits for the next message, or never',
    allowed: DURATION_ALLOWED,
  }),
  retention: setting({
    kind: 'text',
    placeholder: 'time',
    schema: durationSchema,
    fallback: '30d',
    env: 'A2A_SERVER_RETENTION',
    describe: 'how long the server keeps a session after the end of its last task, or never to delete one',
    allowed: DURATION_ALLOWED,
  }),
  logLevel: setting({
    kind: 'text',
    placeholder: 'level',
    schema: z.enum(LOG_LEVELS),
    fallback: 'info',
    env: 'A2A_SERVER_LOG_LEVEL',
    describe: 'log level',
    allowed: LOG_LEVELS.join(', '),
  }),
  logFile: setting({
    kind: 'text',
    placeholder: 'file',
    schema: absolutePath.optional(),
    fallback: undefined,
    env: 'A2A_SERVER_LOG_FILE',
    describe: 'file for the log (default: stderr); at 10 MB it replaces <file>.1, and a new file begins',
    allowed: 'the path of a file',
  }),
} as const;

/** Settings without a flag. A command line is too short for a table. All users of the machine can read it, so it must have no token. */
export const UNFLAGGED_SETTINGS = {
  tokens: setting({
    kind: 'list',
    schema: z.array(
      z
        .string()
        .transform((text) => ({
          principal: text.split('=', 1)[0] ?? '',
          token: text.slice(text.indexOf('=') + 1),
        }))
        .pipe(
          z.object({
            principal: z.string().regex(/^[\w.@-]{1,100}$/, 'a name is made of letters, digits and . _ @ -'),
            token: z
              .string()
              .regex(TOKEN_PATTERN, 'a token has 20 to 512 characters A-Z a-z 0-9 . _ ~ + / -'),
          }),
        ),
    ),
    fallback: [],
    env: 'A2A_SERVER_TOKENS',
    describe: 'more principals and their tokens, besides "local" with the token in the state directory',
    allowed: 'name=token, separated by commas',
  }),
  policy: setting({
    kind: 'text',
    schema: rulesSchema,
    fallback: [],
    env: 'A2A_SERVER_POLICY',
    describe: 'rules that allow, ask for or deny tool calls (docs/policies.md)',
    allowed: 'in the configuration file, [{"action": "allow" | "ask" | "deny", "tool": …, "path": …, …}]',
  }),
  baseUrls: setting({
    kind: 'text',
    schema: modelSettingsSchema.shape.baseUrls,
    fallback: {},
    env: 'A2A_SERVER_BASE_URLS',
    describe: 'other base URLs of model providers',
    allowed: 'in the configuration file, {"provider": "URL"}',
  }),
  keys: setting({
    kind: 'text',
    schema: modelSettingsSchema.shape.keys,
    fallback: {},
    env: 'A2A_SERVER_KEYS',
    describe: 'where the keys of model providers come from, if not from their usual variables',
    allowed:
      'in the configuration file, {"provider": {"env": "NAME"}} or {"provider": {"command": ["program", "argument"]}}',
  }),
  prices: setting({
    kind: 'text',
    schema: modelSettingsSchema.shape.prices,
    fallback: {},
    env: 'A2A_SERVER_PRICES',
    describe:
      'prices of models in US dollars per million tokens (default: the list prices of well-known models)',
    allowed: 'in the configuration file, {"provider:model": {"input": 3, "output": 15, "cachedInput": 0.3}}',
  }),
  contextWindow: setting({
    kind: 'text',
    schema: modelSettingsSchema.shape.contextWindow,
    fallback: {},
    env: 'A2A_SERVER_CONTEXT_WINDOW',
    describe: `context windows of models in tokens (default: those of well-known models, otherwise ${DEFAULT_WINDOW})`,
    allowed: 'in the configuration file, {"provider:model": 32768}, from 8000',
  }),
  inputModes: setting({
    kind: 'text',
    schema: modelSettingsSchema.shape.inputModes,
    fallback: {},
    env: 'A2A_SERVER_INPUT_MODES',
    describe: 'types of the files that models take (default: those of well-known models, otherwise none)',
    allowed: `in the configuration file, {"provider:model": ["image/png"]}, of ${FILE_TYPES.join(', ')}`,
  }),
  modelParameters: setting({
    kind: 'text',
    schema: modelSettingsSchema.shape.parameters,
    fallback: {},
    env: 'A2A_SERVER_MODEL_PARAMETERS',
    describe: 'temperature, output limit and reasoning effort, by tier or model id',
    allowed:
      'in the configuration file, {"smart": {"effort": "high"}, "provider:model": {"temperature": 0.2, "maxOutputTokens": 8000}}',
  }),
  mcpServers: setting({
    kind: 'text',
    schema: mcpServerSettingsSchema,
    fallback: {},
    env: 'A2A_SERVER_MCP_SERVERS',
    describe: 'MCP servers whose tools the agent may call',
    allowed: 'in the configuration file, as described in docs/mcp-servers.md',
  }),
} as const;

/** All settings, with and without a flag. */
export const ALL_SETTINGS = { ...SERVER_SETTINGS, ...UNFLAGGED_SETTINGS };

export interface ServerSettings extends SettingValues<typeof ALL_SETTINGS> {
  stateDir: string;
  /** The configuration file, if a flag or a variable names it. */
  configFile: string | undefined;
  /** False if the port is the default. */
  portChosen: boolean;
}
