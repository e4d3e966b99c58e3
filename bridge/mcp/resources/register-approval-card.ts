/**
 * Offers the approval card as an MCP resource (MCP Apps). The build makes the card from the components of the approval
 * page.
 */
import { readFile } from 'node:fs/promises';
import type { McpServer } from '@modelcontextprotocol/server';
import { APPROVAL_CARD_MIME_TYPE, APPROVAL_CARD_URI } from '../../approvals/approval-card.ts';
import { APPS_EXTENSION } from '../../approvals/tool-call-client.ts';
import type { McpServerOptions } from '../tool/tool-serving-context.ts';

/**
 * The metadata of the card. It contains no CSP. So the client allows the card no connections and no files from other
 * origins. The card needs neither.
 */
const META = { ui: { prefersBorder: true } };

export function registerApprovalCard(
  server: McpServer,
  { prefix, cardFile }: Pick<McpServerOptions, 'prefix' | 'cardFile'>,
): void {
  server.server.registerCapabilities({ extensions: { [APPS_EXTENSION]: {} } });
  server.registerResource(
    'approval-card',
    APPROVAL_CARD_URI,
    {
      title: 'Approval card',
      description: 'Shows the pending actions of a task in the chat.',
      mimeType: APPROVAL_CARD_MIME_TYPE,
      _meta: META,
    },
    async ({ href }) => {
      const html = await readFile(cardFile, 'utf8');
      // The card calls tools of the bridge, and the settings may add a prefix to the names of these tools.
      const text = html.replace('data-tool-prefix=""', () => `data-tool-prefix="${prefix}"`);
      return { contents: [{ uri: href, mimeType: APPROVAL_CARD_MIME_TYPE, text, _meta: META }] };
    },
  );
}
