/** How each client starts in a home of its own, and how it gets to the action that waits. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { NOT_READY, PROMPT } from './delegating-model.ts';
import type { TmuxScreen } from './tmux-screen.ts';

export interface ClientPlace {
  home: string;
  project: string;
  modelUrl: string;
}

export interface PicturedClient {
  /** The name of the picture. */
  name: string;
  /** The name for `mcp-a2a-bridge install`. */
  installName: string;
  command: readonly string[];
  env: Readonly<Record<string, string>>;
  modelEnv: (url: string) => Readonly<Record<string, string>>;
  /** Answers the questions of a first start. */
  prepare: (place: ClientPlace) => Promise<void>;
  /** Resolves with the screen that waits for the person. */
  untilWaiting: (screen: TmuxScreen) => Promise<string>;
}

const json = z.record(z.string(), z.unknown());

async function addToJson(path: string, more: Readonly<Record<string, unknown>>): Promise<void> {
  const before = json.parse(JSON.parse(await readFile(path, 'utf8').catch(() => '{}')));
  await writeFile(path, JSON.stringify({ ...before, ...more }));
}

const claudeCode: PicturedClient = {
  name: 'claude-code-form',
  installName: 'claude',
  command: ['claude', '--allowedTools', 'mcp__a2a-bridge'],
  env: {
    ANTHROPIC_API_KEY: 'none',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    IS_SANDBOX: '1',
  },
  modelEnv: (url) => ({ ANTHROPIC_BASE_URL: url }),
  prepare: ({ home, project }) =>
    addToJson(join(home, '.claude.json'), {
      hasCompletedOnboarding: true,
      theme: 'dark',
      customApiKeyResponses: { approved: ['none'], rejected: [] },
      projects: { [project]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
    }),
  async untilWaiting(screen) {
    await screen.shows('❯');
    // Claude Code takes a prompt before its MCP servers are there.
    for (let attempt = 0; attempt < 5; attempt += 1) {
      await screen.type(PROMPT);
      const shown = await screen.shows(new RegExp(`Accept|${NOT_READY}[^]*❯\\s*$`, 'm'));
      if (shown.includes('Accept')) return shown;
      await screen.type('/clear');
    }
    throw new Error('Claude Code does not find the tools of the bridge.');
  },
};

const geminiCli: PicturedClient = {
  name: 'gemini-cli',
  installName: 'gemini',
  command: ['gemini', '--model', 'gemini-2.5-flash'],
  env: { GEMINI_API_KEY: 'none', GEMINI_CLI_TRUST_WORKSPACE: 'true' },
  modelEnv: (url) => ({ GOOGLE_GEMINI_BASE_URL: url }),
  prepare: ({ home }) =>
    addToJson(join(home, '.gemini', 'settings.json'), {
      security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
      general: { enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
    }),
  async untilWaiting(screen) {
    await screen.shows('Type your message');
    await screen.type(PROMPT);
    await screen.shows('Allow execution');
    await screen.press('Enter');
    return screen.shows(/Approve or deny/);
  },
};

const codex: PicturedClient = {
  name: 'codex',
  installName: 'codex',
  command: ['codex', '--no-daemon'],
  env: { FAKE_KEY: 'none' },
  modelEnv: () => ({}),
  async prepare({ home, project, modelUrl }) {
    const path = join(home, '.codex', 'config.toml');
    const provider = `[model_providers.fake]
name = "fake"
base_url = "${modelUrl}/v1"
wire_api = "responses"
env_key = "FAKE_KEY"

[projects."${project}"]
trust_level = "trusted"
`;
    const entry = await readFile(path, 'utf8');
    await writeFile(path, `model = "gpt-5.1"\nmodel_provider = "fake"\n\n${entry}\n${provider}`);
  },
  async untilWaiting(screen) {
    await screen.shows('›');
    await screen.type(PROMPT);
    await screen.shows('enter to submit');
    await screen.press('Enter');
    return screen.shows('Change a.txt');
  },
};

export const CLIENTS: readonly PicturedClient[] = [claudeCode, geminiCli, codex];
