/** Starts a server with the tasks that the pictures show. The scripted agent does what script.json says. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTask } from '../../a2a-server/page/browser/create-task.ts';
import { A2aClient } from '../../shared/client/index.ts';
import { homeDirectoryOf, launchServer, newServerHome } from '../support/server-program.ts';

const FILES = {
  'src/rate-limit.ts': `/** Limits the requests of each client in a time window. */
import { LRUCache } from 'lru-cache';

export interface RateLimit {
  allows: (client: string) => boolean;
}

const MAX_CLIENTS = 10_000;
const LIMIT = 100;
const WINDOW_MS = 60_000;

export function rateLimit(): RateLimit {
  const counts = new LRUCache<string, number>({ max: MAX_CLIENTS, ttl: WINDOW_MS });
  return {
    allows(client) {
      const count = (counts.get(client) ?? 0) + 1;
      counts.set(client, count, { noUpdateTTL: true });
      return count <= LIMIT;
    },
  };
}
`,
  'CHANGELOG.md':
    '# Changes\n\n## 2.4.0\n\n- Add a time limit to requests.\n- Keep the queue over a restart.\n',
};

export interface Scene {
  url: string;
  token: string;
  stateDir: string;
  workspace: string;
  /** The ids of the tasks, by what they show. */
  tasks: { diff: string; question: string; story: string };
  close: () => Promise<void>;
}

export const DIFF_TASK = 'Make the rate limit a setting';

/** @throws Error if the server does not start */
export async function startScene(): Promise<Scene> {
  // The pictures show the path, so it is short. It fails if the directory exists.
  const home = { ...(await newServerHome()), workspace: join(tmpdir(), 'shop') };
  await mkdir(home.workspace);
  for (const [path, content] of Object.entries(FILES)) {
    await mkdir(join(home.workspace, path, '..'), { recursive: true });
    await writeFile(join(home.workspace, path), content);
  }
  const script = join(process.cwd(), 'test', 'pictures', 'script.json');
  const server = launchServer({ home, args: ['--agent', 'scripted', script] });
  const close = async (): Promise<void> => {
    await server.kill();
    for (const path of [home.workspace, homeDirectoryOf(home)])
      await rm(path, { recursive: true, force: true });
  };
  try {
    const access = await server.ready;
    const client = new A2aClient(access);
    await createTask(client, { text: 'Explain how the queue keeps its jobs' });
    const story = await createTask(client, { text: 'Write the release notes of 2.4.0', autoExecute: true });
    const diff = await createTask(client, { text: DIFF_TASK });
    const question = await createTask(client, { text: 'Prepare the database for production' });
    await createTask(client, { text: 'Remove the temporary files of the build' });
    await createTask(client, { text: 'Watch the build, and report failures' });
    return { ...home, ...access, tasks: { diff, question, story }, close };
  } catch (error) {
    await close();
    throw error;
  }
}
