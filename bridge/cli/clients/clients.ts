import { claude } from './claude.ts';
import type { McpClientProgram } from './client.ts';
import { codex } from './codex.ts';
import { cursor } from './cursor.ts';
import { gemini } from './gemini.ts';
import { vscode } from './vscode.ts';

export const CLIENTS = { claude, gemini, codex, cursor, vscode } as const satisfies Record<
  string,
  McpClientProgram
>;
export type ClientName = keyof typeof CLIENTS;
export const CLIENT_NAMES = Object.keys(CLIENTS).filter(isClientName);

export function isClientName(name: string): name is ClientName {
  return Object.hasOwn(CLIENTS, name);
}
