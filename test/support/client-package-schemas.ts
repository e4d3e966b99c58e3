/**
 * The formats of packages for MCP clients, as zod schemas of our own after the published ones. They are closed: an
 * unknown field is an error, although some clients ignore it.
 */
import { z } from 'zod';

const author = z.strictObject({
  name: z.string(),
  email: z.string().optional(),
  url: z.string().optional(),
});
const about = {
  version: z.string(),
  description: z.string(),
  author,
  homepage: z.string().optional(),
  repository: z.string().optional(),
  license: z.string(),
  keywords: z.array(z.string()),
};
const kebab = z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/);

/** Agent Plugins 1.0.0, schemas/1.0.0/plugin.schema.json (agent-plugins.org/specification §5). */
const agentPluginManifest = z.strictObject({
  $schema: z.literal('https://agent-plugins.org/schemas/1.0.0/plugin.schema.json'),
  name: z
    .string()
    .max(64)
    .regex(/^(?!.*(?:--|\.\.))[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/),
  ...about,
});
/** Agent Plugins 1.0.0, schemas/1.0.0/mcp.schema.json (§7.2.1), for servers over stdio. */
const agentPluginServers = z.strictObject({
  $schema: z.literal('https://agent-plugins.org/schemas/1.0.0/mcp.schema.json'),
  mcpServers: z.record(
    z.string(),
    z.strictObject({
      type: z.literal('stdio'),
      // A bare name, or a path in the plugin. Clients replace no variable here.
      command: z.string().regex(/^(\.\/)?[^\\/$]+$/),
      args: z.array(z.string()).optional(),
      cwd: z
        .string()
        .regex(/^(\.\/|\$\{PLUGIN_(ROOT|DATA)\}(\/|$))/)
        .optional(),
    }),
  ),
});

/**
 * code.claude.com/docs/en/plugins/manifest-reference. Claude Code finds the other parts of a plugin at their standard
 * paths, so the manifest does not name them.
 */
const claudeCodeManifest = z.strictObject({ name: kebab, displayName: z.string(), ...about });
/** code.claude.com/docs/en/hooks */
const claudeCodeHook = z.strictObject({
  type: z.literal('command'),
  command: z.string().regex(/^sh "\$\{CLAUDE_PLUGIN_ROOT\}\/hooks\/notices\.sh" (start|prompt)$/),
  timeout: z.number().positive(),
});
const claudeCodeHooks = z.strictObject({
  description: z.string(),
  hooks: z.record(
    z.enum(['SessionStart', 'UserPromptSubmit']),
    z.array(z.strictObject({ hooks: z.array(claudeCodeHook) })),
  ),
});

const claudeCodeServers = z.strictObject({
  mcpServers: z.record(
    z.string(),
    z.strictObject({ type: z.literal('stdio'), command: z.string(), args: z.array(z.string()) }),
  ),
});
/** code.claude.com/docs/en/plugins/marketplace-reference */
const claudeCodeMarketplace = z.strictObject({
  name: kebab,
  owner: author,
  description: z.string(),
  plugins: z.array(
    z.strictObject({
      name: kebab,
      source: z.string().startsWith('./'),
      description: z.string(),
      category: z.string(),
    }),
  ),
});

/** github.com/openai/codex, codex-rs/core-plugins/src/manifest.rs and developers.openai.com/plugins/build/plugins */
const codexManifest = z.strictObject({
  name: kebab,
  ...about,
  skills: z.string().startsWith('./'),
  mcpServers: z.record(
    z.string(),
    z.strictObject({
      command: z.string(),
      args: z.array(z.string()),
      required: z.boolean(),
      startup_timeout_sec: z.number(),
      tool_timeout_sec: z.number(),
    }),
  ),
  interface: z.strictObject({
    displayName: z.string(),
    shortDescription: z.string(),
    developerName: z.string(),
    category: z.string(),
    capabilities: z.array(z.string()),
    defaultPrompt: z.array(z.string().max(128)).max(3),
  }),
});
const codexMarketplace = z.strictObject({
  name: kebab,
  interface: z.strictObject({ displayName: z.string() }),
  plugins: z.array(
    z.strictObject({
      name: kebab,
      source: z.strictObject({ source: z.literal('local'), path: z.string().startsWith('./') }),
      policy: z.strictObject({
        installation: z.literal('AVAILABLE'),
        authentication: z.literal('ON_INSTALL'),
      }),
      category: z.string(),
    }),
  ),
});

/** geminicli.com/docs/extensions/reference. An extension cannot set `trust`. */
const geminiExtension = z.strictObject({
  name: kebab,
  version: z.string(),
  description: z.string(),
  mcpServers: z.record(
    z.string(),
    z.strictObject({
      command: z.string(),
      args: z.array(z.string()),
      cwd: z.string(),
      timeout: z.number(),
    }),
  ),
});
/** geminicli.com/docs/cli/custom-commands */
const geminiCommand = z.strictObject({ description: z.string(), prompt: z.string() });

/** github.com/modelcontextprotocol/mcpb, mcpb-manifest-v0.3.schema.json */
const desktopBundle = z.strictObject({
  manifest_version: z.literal('0.3'),
  name: z.string(),
  display_name: z.string(),
  version: z.string(),
  description: z.string(),
  long_description: z.string(),
  author,
  repository: z.strictObject({ type: z.string(), url: z.url() }).optional(),
  icon: z.string(),
  license: z.string(),
  keywords: z.array(z.string()),
  server: z.strictObject({
    type: z.literal('node'),
    entry_point: z.string(),
    mcp_config: z.strictObject({ command: z.string(), args: z.array(z.string()) }),
  }),
  tools_generated: z.boolean(),
  prompts_generated: z.boolean(),
  compatibility: z.strictObject({
    platforms: z.array(z.enum(['darwin', 'win32', 'linux'])),
    runtimes: z.strictObject({ node: z.string() }),
  }),
  user_config: z.record(
    z.string(),
    z.strictObject({
      type: z.enum(['string', 'number', 'boolean', 'directory', 'file']),
      title: z.string(),
      description: z.string(),
      required: z.boolean(),
    }),
  ),
});

const specificVersion = z.string().regex(/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/);
/** static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json */
const registryEntry = z.strictObject({
  $schema: z.literal('https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  version: specificVersion,
  repository: z.strictObject({ url: z.url(), source: z.string() }),
  packages: z.array(
    z.strictObject({
      registryType: z.literal('npm'),
      registryBaseUrl: z.url(),
      identifier: z.string(),
      version: specificVersion,
      runtimeHint: z.string(),
      transport: z.strictObject({ type: z.literal('stdio') }),
    }),
  ),
});

/** The schema of each generated JSON file, by its path from the directory of all packages. */
export const JSON_FILES: Readonly<Record<string, z.ZodType>> = {
  '.claude-plugin/marketplace.json': claudeCodeMarketplace,
  '.agents/plugins/marketplace.json': codexMarketplace,
  'server.json': registryEntry,
  'claude-code/.claude-plugin/plugin.json': claudeCodeManifest,
  'claude-code/.mcp.json': claudeCodeServers,
  'claude-code/hooks/hooks.json': claudeCodeHooks,
  'codex/.codex-plugin/plugin.json': codexManifest,
  'gemini-cli/gemini-extension.json': geminiExtension,
  'agent-plugin/plugin.json': agentPluginManifest,
  'agent-plugin/mcp.json': agentPluginServers,
  'desktop-bundle/manifest.json': desktopBundle,
};

/** The schema of each generated TOML file. */
export const TOML_FILES: Readonly<Record<string, z.ZodType>> = {
  'gemini-cli/commands/a2a-bridge/inbox.toml': geminiCommand,
  'gemini-cli/commands/a2a-bridge/review.toml': geminiCommand,
};
