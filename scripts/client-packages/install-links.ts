/**
 * Links that install the bridge with one click, with badges in Markdown: VS Code
 * (code.visualstudio.com/api/extension-guides/ai/mcp) and Cursor (cursor.com/docs/mcp/install-links).
 */
import { cursor } from '../../bridge/cli/clients/cursor.ts';
import { vscode } from '../../bridge/cli/clients/vscode.ts';
import type { BridgeStartCommand } from '../../bridge/cli/clients/client.ts';
import { NAME, type PackageFiles } from './package-description.ts';

/**
 * Returns the links. `server` starts a published version. For the program of a clone, use the command `install`
 * instead.
 */
export function installLinks(server: BridgeStartCommand): PackageFiles {
  const forVscode = JSON.stringify({ ...vscode.entry(server), ...vscode.defaults });
  const forCursor = Buffer.from(JSON.stringify(cursor.entry(server))).toString('base64');
  // VS Code decodes percent signs, and leaves `+` as it is.
  const vscodeUrl = `https://vscode.dev/redirect/mcp/install?${query(forVscode).replaceAll('+', '%20')}`;
  const cursorUrl = `https://cursor.com/en/install-mcp?${query(forCursor)}`;
  return {
    'links.md': `[![Install in VS Code](https://img.shields.io/badge/VS_Code-Install-0098FF)](${vscodeUrl})
[![Install in Cursor](https://cursor.com/deeplink/mcp-install-dark.svg)](${cursorUrl})
`,
  };
}

function query(config: string): string {
  return new URLSearchParams({ name: NAME, config }).toString();
}
