/** The settings of the bridge: flags, environment variables, and keys in the configuration file. */
import { resolve } from 'node:path';
import { z } from 'zod';
import {
  readConfigFile,
  resolveSettings,
  defineSetting,
  type SettingValues,
  defineSwitch,
  withVariables,
} from '../../shared/settings/resolve-settings.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import { LOG_LEVELS } from '../../shared/runtime/logging.ts';
import { locationFlagDefinitions, locateSettings } from '../../shared/settings/settings-location.ts';
import type { Environment } from '../../shared/runtime/environment.ts';
import { APPROVAL_MODES, FORM_FIELDS_VALUES } from './approval-mode.ts';
import { agentAccessFields, httpUrlSchema, variableNameSchema } from './agent-settings.ts';
import { BRIDGE_DRAFT_PROTOCOLS } from './draft-protocols.ts';
import { currentDirectory } from './current-directory.ts';
import { webhookSettingsSchema } from './webhook-settings.ts';
import { DIALECT_NAMES } from '../dialects/dialect.ts';
import { ON_CANCEL_VALUES } from './on-cancel.ts';

export const agentNameSchema = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,100}$/, 'letters, digits, ".", "_" and "-"');
const path = z
  .string()
  .min(1)
  .transform((given) => resolve(given));

/** The default port for MCP over HTTP: the default port of a2a-server plus one. */
const DEFAULT_HTTP_PORT = 41243;

/**
 * The port for MCP over HTTP. Without a value, the flag is `true`, which means the default port. In the configuration
 * file, the port may be a number.
 */
const httpPort = z
  .union([
    z.boolean(),
    z.stringbool({ truthy: ['yes', 'true'], falsy: ['no', 'false'] }),
    z.number().int().min(0).max(65_535),
    z
      .string()
      .regex(/^\d{1,5}$/)
      .transform(Number)
      .pipe(z.number().max(65_535)),
  ])
  .transform((given) => (typeof given === 'number' ? given : given ? DEFAULT_HTTP_PORT : undefined));

/**
 * A configured agent. The configuration file need not contain a secret. It can name a variable or a command instead.
 */
export const agentSettingsSchema = z.strictObject({
  /**
   * The agent's URL. The bridge looks for the card at the well-known path below this URL, and then at the well-known
   * path of its host. The card determines the version (1.0, 0.3) and the transport (JSON-RPC, HTTP+JSON).
   */
  url: httpUrlSchema,
  /** The environment variable that contains the bearer token. */
  tokenEnv: variableNameSchema.optional(),
  ...agentAccessFields,
  /** PEM files with the public keys that may sign the agent's card. If absent, the card needs no signature. */
  cardKeys: z.array(path).min(1).max(10).optional(),
  /** How the agent asks for approval. If absent, the agent's card determines this. */
  dialect: z.enum(DIALECT_NAMES).optional(),
});
export type AgentSettings = z.infer<typeof agentSettingsSchema>;

export const BRIDGE_SETTINGS = withVariables('MCP_A2A_BRIDGE', {
  agentUrl: defineSetting({
    placeholder: 'url',
    schema: httpUrlSchema.optional(),
    describe: 'the URL of the A2A agent (default: the local a2a-server, which the bridge starts)',
    allowed: 'the http or https URL of an A2A agent',
  }),
  agentTokenEnv: defineSetting({
    placeholder: 'name',
    schema: variableNameSchema,
    fallback: 'MCP_A2A_BRIDGE_AGENT_TOKEN',
    describe: "the environment variable with that agent's bearer token",
    allowed: 'the name of an environment variable',
  }),
  agentDialect: defineSetting({
    placeholder: DIALECT_NAMES.join('|'),
    schema: z.enum(DIALECT_NAMES).optional(),
    describe: 'how that agent asks for approvals (default: by its agent card)',
    allowed: DIALECT_NAMES.join(', '),
  }),
  waitSeconds: defineSetting({
    kind: 'number',
    placeholder: 'seconds',
    schema: z.number().min(0).max(3600).optional(),
    describe:
      'how long a call waits for its task before it returns the handle (default 100, or 50 if the client asks for no progress)',
    allowed: 'a number from 0 to 3600',
  }),
  toolPrefix: defineSetting({
    placeholder: 'prefix',
    schema: z.string().regex(/^[A-Za-z0-9_-]{0,30}$/),
    fallback: '',
    describe: 'prefix of every tool name, e.g. gemini_',
    allowed: 'up to 30 letters, digits, "_" and "-"',
  }),
  onCancel: defineSetting({
    placeholder: ON_CANCEL_VALUES.join('|'),
    schema: z.enum(ON_CANCEL_VALUES),
    fallback: 'detach',
    describe:
      'what happens to a task when a person stops the call that waits for it; a timeout never ends a task (docs/cancellation.md)',
    allowed: 'detach (it continues) or cancel',
  }),
  onDisconnect: defineSetting({
    placeholder: ON_CANCEL_VALUES.join('|'),
    schema: z.enum(ON_CANCEL_VALUES),
    fallback: 'detach',
    describe:
      'what happens to the tasks of a client that closes stdin or ends its MCP session (docs/cancellation.md)',
    allowed: 'detach (they go on) or cancel',
  }),
  approvals: defineSetting({
    placeholder: APPROVAL_MODES.join('|'),
    schema: z.enum(APPROVAL_MODES),
    fallback: 'auto',
    describe:
      'how actions are approved: in forms or on a card if the client shows them, otherwise by the tool (auto); only by a person in a form, on the page or at a terminal (human-only); or only by the tool (tool-only)',
    allowed: 'auto, human-only or tool-only',
  }),
  preview: defineSetting({
    kind: 'list',
    placeholder: 'name',
    schema: z.array(z.enum(BRIDGE_DRAFT_PROTOCOLS)),
    fallback: [],
    describe:
      'part of a draft protocol that the bridge offers although it may still change; may be repeated (default: none; docs/preview.md)',
    allowed: BRIDGE_DRAFT_PROTOCOLS.join(', '),
  }),
  forms: defineSetting({
    placeholder: FORM_FIELDS_VALUES.join('|'),
    schema: z.enum(FORM_FIELDS_VALUES),
    fallback: 'none',
    describe:
      'the fields of an approval form: none, to approve or deny only, or more, to edit, trust and give a reason too',
    allowed: 'none or more',
  }),
  fastestAnswerSeconds: defineSetting({
    kind: 'number',
    placeholder: 'seconds',
    schema: z.number().min(0).max(60),
    fallback: 1,
    describe: 'a form answered faster than this was not read, and does not count',
    allowed: 'a number from 0 to 60',
  }),
  workspace: defineSetting({
    placeholder: 'dir',
    schema: path.optional(),
    env: 'CLAUDE_PROJECT_DIR',
    describe:
      'workspace of tasks that name none, for agents on this machine (default: the current directory)',
    allowed: 'a directory',
  }),
  workspaceFromRoots: defineSwitch(
    false,
    'use the first folder that the client has open (its MCP root) as the workspace, and not the current directory',
  ),
  allowWorkspace: defineSetting({
    kind: 'list',
    placeholder: 'dir',
    schema: z.array(path),
    fallback: [],
    describe:
      "a directory that tool calls may use as workspace, with everything below it, besides the bridge's own; may be repeated",
    allowed: 'directories',
  }),
  desktopNotifications: defineSwitch(
    false,
    'show a notification of the desktop when a result is ready or an action waits (Linux, macOS)',
  ),
  autoStart: defineSwitch(true, 'start the local a2a-server when it is needed'),
  stdio: defineSwitch(true, 'serve the client that started the bridge, over stdin and stdout'),
  http: defineSetting({
    placeholder: 'port',
    valueOptional: true,
    schema: httpPort.optional(),
    describe: `also serve MCP over Streamable HTTP on 127.0.0.1; 0 uses a free port (default no; default port ${DEFAULT_HTTP_PORT})`,
    allowed: 'yes, no, or a port from 0 to 65535',
  }),
  httpAllowOrigin: defineSetting({
    kind: 'list',
    placeholder: 'origin',
    schema: z.array(z.string().regex(/^https?:\/\/[^/\s]+$/)),
    fallback: [],
    describe:
      'origin of web pages that may call the bridge over HTTP, e.g. https://console.example.com; may be repeated',
    allowed: 'origins: scheme, host and port, without a path',
  }),
  logLevel: defineSetting({
    placeholder: 'level',
    schema: z.enum(LOG_LEVELS),
    fallback: 'info',
    describe: 'log level; logs go to stderr',
    allowed: LOG_LEVELS.join(', '),
  }),
});

/** Settings that are too large for a command line. They have no flag. */
export const UNFLAGGED_BRIDGE_SETTINGS = withVariables('MCP_A2A_BRIDGE', {
  agents: defineSetting({
    schema: z.record(agentNameSchema, agentSettingsSchema),
    fallback: {},
    describe: 'agents by name; the first is the default',
    allowed:
      'in the configuration file, {"name": {"url": "…", "tokenEnv": "…", …}}; docs/configuration.md has every key',
  }),
  approvalWebhook: defineSetting({
    schema: webhookSettingsSchema.optional(),
    describe: 'a webhook that gets approvals that wait too long, and may decide them',
    allowed: 'in the same file, {"url": "…", "secretEnv": "…", …}; docs/approvals.md has every key',
  }),
});

export const ALL_BRIDGE_SETTINGS = { ...BRIDGE_SETTINGS, ...UNFLAGGED_BRIDGE_SETTINGS };

export interface BridgeSettings extends SettingValues<typeof ALL_BRIDGE_SETTINGS> {
  workspace: string;
  stateDir: string;
  /** The configuration file, if a flag or variable names it. A server that the bridge starts uses the same file. */
  configFile: string | undefined;
}

/** The flags for the state directory and the configuration file. */
export const BRIDGE_LOCATION_FLAGS = locationFlagDefinitions("outbox, token and the local server's address");

/**
 * Reads the settings from the flags, the environment and the configuration file.
 * @param flags the values of commander's options by setting key, with `stateDir` and `config`
 * @throws ProductError CONFIGURATION
 */
export async function readBridgeSettings(
  flags: Readonly<Record<string, unknown>>,
  env: Environment,
): Promise<BridgeSettings> {
  const { stateDir, configFile, named, flags: settingFlags } = locateSettings(flags, env);
  const file = await readConfigFile(configFile, named);
  const sources = { flags: settingFlags, env, file: { path: configFile, values: file.bridge } };
  const settings = resolveSettings(ALL_BRIDGE_SETTINGS, sources);
  if (!settings.stdio && settings.http === undefined) {
    throw new ProductError(
      'CONFIGURATION',
      'With --no-stdio and without --http the bridge serves no client. Add --http.',
    );
  }
  return {
    ...settings,
    workspace: settings.workspace ?? requireCurrentDirectory(),
    stateDir,
    configFile: named ? configFile : undefined,
  };
}

function requireCurrentDirectory(): string {
  const found = currentDirectory();
  if (found !== undefined) return found;
  throw new ProductError(
    'CONFIGURATION',
    'The current directory was deleted. Change to another directory, or name one with --workspace.',
  );
}
