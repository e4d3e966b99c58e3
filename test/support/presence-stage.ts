/** A server whose rules demand presence, and a person with a software passkey who uses the page's requests. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { SoftwarePasskey } from './software-passkey.ts';
import { stage, type Stage } from './stage.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const PROGRAM = join(process.cwd(), 'dist', 'a2a-server', 'main.js');

const challengeAnswer = z.object({ challenge: z.string() });

/** Starts a server with these rules in its configuration file. */
export async function stageWithRules(...policy: readonly Record<string, unknown>[]): Promise<Stage> {
  const config = join(await temporaryDirectory(), 'config.json');
  await writeFile(config, JSON.stringify({ server: { policy } }));
  return stage({ args: ['--config', config] });
}

/** Runs `a2a-server passkey add` at a terminal (a pseudo-terminal of `script`), and returns the link that it prints. */
export async function passkeyLink(
  { server }: { server: { stateDir: string } },
  principal = 'local',
): Promise<URL> {
  const { stateDir } = server;
  const line = [process.execPath, ...addPasskeyWords(stateDir), '--principal', principal]
    .map((each) => `'${each}'`)
    .join(' ');
  const { stdout } = await promisify(execFile)('script', ['-qefc', line, '/dev/null'], {
    env: { PATH: process.env['PATH'], HOME: stateDir },
  });
  const [link] = /http\S+/.exec(stdout) ?? [];
  if (link === undefined) throw new Error(stdout);
  return new URL(link);
}

/** Returns the arguments of Node for the command. */
export function addPasskeyWords(stateDir: string): string[] {
  return [PROGRAM, 'passkey', 'add', '--state-dir', stateDir];
}

/** A person at the page of a server, without a browser. */
export class PersonAtPage {
  readonly passkey = new SoftwarePasskey();
  readonly #url: string;
  readonly #headers: Record<string, string>;

  private constructor(url: string, headers: Record<string, string>) {
    this.#url = url;
    this.#headers = headers;
  }

  /** Opens a link of `a2a-server passkey add`, signs in, and registers the passkey. */
  static async register(on: Stage, name = 'laptop', principal = 'local'): Promise<PersonAtPage> {
    const link = await passkeyLink(on, principal);
    const person = await PersonAtPage.signIn(link);
    const code = new URLSearchParams(link.hash.slice(1)).get('passkey');
    const { challenge } = challengeAnswer.parse(await person.post('/passkeys/registration', { code }));
    await person.post('/passkeys', {
      code,
      name,
      response: person.passkey.register(challenge, person.claims),
    });
    return person;
  }

  static async signIn(link: URL): Promise<PersonAtPage> {
    const headers = { Origin: link.origin, 'Content-Type': 'application/json' };
    const response = await fetch(new URL('/page/session', link), {
      method: 'POST',
      headers,
      body: JSON.stringify({ code: new URLSearchParams(link.hash.slice(1)).get('code') }),
    });
    const { pageKey } = z.object({ pageKey: z.string() }).parse(await response.json());
    const [cookie = ''] = (response.headers.get('set-cookie') ?? '').split(';');
    return new PersonAtPage(link.origin, { ...headers, Cookie: cookie, 'X-Page-Key': pageKey });
  }

  get claims(): { origin: string; rpId: string } {
    return { origin: this.#url, rpId: 'localhost' };
  }

  /** Returns the decision with an assertion of the passkey. @throws Error with the server's refusal */
  async signed<D extends object>(taskId: string, decision: D): Promise<D & { presence: object }> {
    const answer = await this.post('/passkeys/challenge', { taskId, decision });
    const { challenge } = challengeAnswer.parse(answer);
    return { ...decision, presence: this.passkey.assert(challenge, this.claims) };
  }

  /** Sends a request of the page. @throws Error with the server's refusal */
  async post(path: string, body: unknown): Promise<unknown> {
    const response = await fetch(`${this.#url}/page/api${path}`, {
      method: 'POST',
      headers: this.#headers,
      body: JSON.stringify(body),
    });
    const answer: unknown = await response.json();
    if (!response.ok) throw new Error(`HTTP ${response.status}: ${JSON.stringify(answer)}`);
    return answer;
  }
}
