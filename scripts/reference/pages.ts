/** Writes the generated sections of the pages. The rest of each page is written by hand. */
import { readFile } from 'node:fs/promises';
import { oidcSchema } from '../../a2a-server/access/oidc-settings.ts';
import { remoteServerSchema, stdioServerSchema } from '../../a2a-server/mcp-servers/server-settings.ts';
import { chatWebhookSchema } from '../../a2a-server/push/chat-webhooks.ts';
import { SERVER_SETTINGS } from '../../a2a-server/startup/settings/settings.ts';
import { UNFLAGGED_SERVER_SETTINGS } from '../../a2a-server/startup/settings/unflagged-settings.ts';
import { EXIT_MEANINGS } from '../../bridge/cli/terminal/exit-codes.ts';
import {
  agentSettingsSchema,
  BRIDGE_SETTINGS,
  UNFLAGGED_BRIDGE_SETTINGS,
} from '../../bridge/settings/settings.ts';
import { webhookSettingsSchema } from '../../bridge/settings/webhook-settings.ts';
import { errorsSection } from './errors-section.ts';
import { eventsSection } from './events-section.ts';
import { table, withSection } from './markdown.ts';
import { fieldRows } from './schema-fields.ts';
import { SCHEMA_TABLES } from './schemas-section.ts';
import { settingsSection } from './settings-section.ts';
import { sourceFile } from './source-comments.ts';
import { toolsSection } from './tools-section.ts';

const SECTIONS: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  'docs/mcp-tools.md': { tools: toolsSection },
  'docs/configuration.md': {
    'settings of mcp-a2a-bridge': () => settingsSection(BRIDGE_SETTINGS, UNFLAGGED_BRIDGE_SETTINGS),
    'settings of a2a-server': () => settingsSection(SERVER_SETTINGS, UNFLAGGED_SERVER_SETTINGS),
    'keys of an agent': () => keysSection('bridge/settings/settings.ts', { agentSettingsSchema }),
  },
  'docs/approvals.md': {
    'keys of the webhook': () =>
      keysSection('bridge/settings/webhook-settings.ts', { webhookSettingsSchema }),
  },
  'docs/access.md': {
    'keys of oidc': () => keysSection('a2a-server/access/oidc-settings.ts', { oidcSchema }),
  },
  'docs/push.md': {
    'keys of a chat webhook': () => keysSection('a2a-server/push/chat-webhooks.ts', { chatWebhookSchema }),
  },
  'docs/mcp-servers.md': {
    'keys of an MCP server': () =>
      keysSection('a2a-server/mcp-servers/server-settings.ts', { stdioServerSchema, remoteServerSchema }),
  },
  'docs/cli.md': {
    'exit codes': () =>
      table(
        ['exit code', 'means'],
        EXIT_MEANINGS.map(([code, meaning]) => [String(code), meaning]),
      ),
  },
  'docs/errors.md': { errors: errorsSection },
  'docs/events.md': { 'events of a task': eventsSection },
  'docs/extensions.md': SCHEMA_TABLES,
};

/**
 * Writes a table of the keys of these schemas. `schemas` has each schema by the name of its constant in the file
 * `path`. If several schemas have the same row, the table contains it once.
 */
function keysSection(
  path: string,
  schemas: Readonly<Record<string, Parameters<typeof fieldRows>[0]['schema']>>,
): string {
  const rows = Object.entries(schemas).flatMap(([constant, schema]) => {
    const found = sourceFile(path).constant(constant);
    // Without its source, the table would have no meanings.
    if (found === undefined) throw new Error(`${path} declares no ${constant}.`);
    return fieldRows({ schema, source: found.source });
  });
  const unique = new Map(rows.map((row) => [row.join('|'), row]));
  return table(['key', 'type', 'meaning'], [...unique.values()]);
}

export interface ReferencePage {
  path: string;
  /** The page on disk. */
  present: string;
  /** The page with new sections. */
  written: string;
}

export function referencePages(): Promise<ReferencePage[]> {
  return Promise.all(
    Object.entries(SECTIONS).map(async ([path, sections]) => {
      const present = await readFile(path, 'utf8');
      const written = Object.entries(sections).reduce(
        (page, [name, text]) => withSection(page, name, text()),
        present,
      );
      return { path, present, written };
    }),
  );
}
