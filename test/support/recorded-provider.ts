/**
 * The model providers with recorded streams, and a server on loopback that replays a stream for each request. The
 * recordings follow the documentation of the providers (`test/recordings`).
 */
import { afterEach, beforeEach } from '@jest/globals';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProviderName } from '../../a2a-server/models/model-settings.ts';
import type { Models } from '../../a2a-server/models/model.ts';
import type { TokenUsage } from '../../a2a-server/task/events.ts';
import { startFakeModelEndpoint, type FakeModelEndpoint } from './fake-model-endpoint.ts';
import { startTaskService, type RunningService } from './task-service.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { modelsOf } from './model-settings.ts';

export interface Provider {
  name: ProviderName;
  model: string;
  /** The folder of its recordings. */
  folder: string;
  env: Record<string, string>;
  /** The usage of its recording `text-with-cached-usage`. Ollama, LM Studio and llama.cpp do not report cached tokens. */
  cachedUsage: TokenUsage;
  /** The conversation in a request. */
  conversation: (body: unknown) => unknown;
}

export const PROVIDERS: Provider[] = [
  {
    name: 'anthropic',
    model: 'anthropic:claude-sonnet-4-5',
    folder: 'anthropic',
    env: { ANTHROPIC_API_KEY: 'key' },
    cachedUsage: { inputTokens: 2257, outputTokens: 41, cachedInputTokens: 2048, cacheWriteTokens: 188 },
    conversation: (body) => fieldOf(body, 'messages'),
  },
  {
    name: 'google',
    model: 'google:gemini-3-flash-preview',
    folder: 'google',
    env: { GEMINI_API_KEY: 'key' },
    cachedUsage: { inputTokens: 4200, outputTokens: 6, cachedInputTokens: 4096 },
    conversation: (body) => fieldOf(body, 'contents'),
  },
  {
    name: 'openai',
    model: 'openai:gpt-5-mini',
    folder: 'openai',
    env: { OPENAI_API_KEY: 'key' },
    cachedUsage: { inputTokens: 2006, outputTokens: 30, cachedInputTokens: 1920 },
    conversation: (body) => withoutSystem(fieldOf(body, 'input')),
  },
  {
    name: 'openai-compatible',
    model: 'openai-compatible:deepseek-reasoner',
    folder: 'openai-compatible',
    env: {},
    cachedUsage: { inputTokens: 420, outputTokens: 6, cachedInputTokens: 320 },
    conversation: (body) => withoutSystem(fieldOf(body, 'messages')),
  },
  {
    name: 'openai',
    model: 'openai:gpt-4.1',
    folder: 'openai-chat',
    env: { OPENAI_API_KEY: 'key' },
    cachedUsage: { inputTokens: 2006, outputTokens: 30, cachedInputTokens: 1920 },
    conversation: (body) => withoutSystem(fieldOf(body, 'messages')),
  },
  {
    name: 'openrouter',
    model: 'openrouter:anthropic/claude-sonnet-4.5',
    folder: 'openrouter-claude',
    env: { OPENROUTER_API_KEY: 'key' },
    cachedUsage: { inputTokens: 2257, outputTokens: 41, cachedInputTokens: 2048, cacheWriteTokens: 188 },
    conversation: (body) => withoutSystem(fieldOf(body, 'messages')),
  },
  {
    name: 'openrouter',
    model: 'openrouter:google/gemini-3-flash-preview',
    folder: 'openrouter-gemini',
    env: { OPENROUTER_API_KEY: 'key' },
    cachedUsage: { inputTokens: 4200, outputTokens: 6, cachedInputTokens: 4096 },
    conversation: (body) => withoutSystem(fieldOf(body, 'messages')),
  },
  {
    name: 'ollama',
    model: 'ollama:qwen3',
    folder: 'ollama',
    env: {},
    cachedUsage: { inputTokens: 420, outputTokens: 6 },
    conversation: (body) => withoutSystem(fieldOf(body, 'messages')),
  },
  {
    name: 'vllm',
    model: 'vllm:Qwen/Qwen3-8B',
    folder: 'vllm',
    env: {},
    cachedUsage: { inputTokens: 420, outputTokens: 6, cachedInputTokens: 320 },
    conversation: (body) => withoutSystem(fieldOf(body, 'messages')),
  },
  {
    name: 'lmstudio',
    model: 'lmstudio:qwen/qwen3-8b',
    folder: 'lmstudio',
    env: {},
    cachedUsage: { inputTokens: 420, outputTokens: 6 },
    conversation: (body) => withoutSystem(fieldOf(body, 'messages')),
  },
  {
    name: 'llamacpp',
    model: 'llamacpp:gpt-oss-20b',
    folder: 'llamacpp',
    env: {},
    cachedUsage: { inputTokens: 420, outputTokens: 6 },
    conversation: (body) => withoutSystem(fieldOf(body, 'messages')),
  },
];

/** Signatures, ids and texts of reasoning in the recordings. */
export const PROVIDER_STATE = /ErUBCkYI|EqQBCgIY|CiQBcsja|gAAAAA|rs_67|reasoning_content|I need/;

const recordings = new URL('../recordings/', import.meta.url);

/** Starts a new server and a new workspace with `a.md` and `b.md` for each test of the file. */
export class RecordedStage {
  endpoint!: FakeModelEndpoint;
  where!: { stateDir: string; workspace: string };

  constructor() {
    beforeEach(async () => {
      this.endpoint = await startFakeModelEndpoint();
      this.where = { stateDir: await temporaryDirectory(), workspace: await temporaryDirectory() };
      await writeFile(join(this.where.workspace, 'a.md'), 'one\n');
      await writeFile(join(this.where.workspace, 'b.md'), 'two\n');
    });
    afterEach(() => this.endpoint.close());
  }

  /** Replaces the server. The models then have another address. */
  async moveEndpoint(): Promise<void> {
    await this.endpoint.close();
    this.endpoint = await startFakeModelEndpoint();
  }

  /** Answers the next requests with these recorded streams. */
  async replay(folder: string, ...names: string[]): Promise<void> {
    for (const name of names)
      this.endpoint.script({
        type: 'raw',
        body: await readFile(new URL(`${folder}/${name}.sse`, recordings), 'utf8'),
      });
  }

  /** Returns the models of the providers at this server. */
  models(...providers: Provider[]): Models {
    const [first] = providers;
    const settings = {
      model: first?.model,
      otherModel: providers.map(({ model }) => model),
      baseUrls: Object.fromEntries(providers.map(({ name }) => [name, `${this.endpoint.url}/v1`])),
    };
    const env = Object.assign({}, ...providers.map((provider) => provider.env));
    return modelsOf(settings, env);
  }

  /** Starts a service with the models of these providers. */
  start(...providers: Provider[]): Promise<RunningService> {
    return startTaskService({ ...this.where, models: this.models(...providers) });
  }

  /** Returns the conversation of a request as JSON. */
  sent(provider: Provider, index: number): string {
    return JSON.stringify(provider.conversation(this.endpoint.received[index]?.body));
  }
}

/** Returns the conversation that the documentation requires after these streams. */
export async function demanded(folder: string, name: string): Promise<string> {
  const text = await readFile(new URL(`${folder}/${name}.json`, recordings), 'utf8');
  return JSON.stringify(JSON.parse(text));
}

/** @throws if there is no such provider */
export function providerOf(folder: string): Provider {
  const provider = PROVIDERS.find((each) => each.folder === folder);
  if (provider === undefined) throw new Error('no such provider');
  return provider;
}

export function fieldOf(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function withoutSystem(messages: unknown): unknown {
  return Array.isArray(messages)
    ? messages.filter((message) => !['system', 'developer'].includes(String(fieldOf(message, 'role'))))
    : messages;
}
