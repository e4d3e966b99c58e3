/** Tests that a call alone cannot let its task use another directory, or run without questions. */
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { TOOL_APPROVAL_EXTENSION } from '../../../shared/protocol/tool-approval.ts';
import type { FakeAgent } from '../../support/fake-agent.ts';
import {
  DELEGATE,
  FAST_ANSWERS,
  closing,
  program,
  startAgent,
  startClient,
  stateDirectory,
} from './support/bridge-stage.ts';
import { FORM_CLIENTS, type FormAnswer, type FormClient, type ShownForm } from './support/form-client.ts';
import { type RawClient, textOf, refusalOf } from './support/raw-client.ts';
import { type TasksClient, tasksClient } from './support/tasks-client.ts';

const APPROVALS = ['auto', 'human-only', 'tool-only'] as const;

describe('a task that a call asks to start', () => {
  // The tests share the agent, and those with the same settings and client also the bridge.
  let agent: FakeAgent;
  let home: string;
  let own: string;
  beforeAll(async () => {
    agent = await startAgent();
    home = await realpath(await mkdtemp(join(program.directory, 'home-')));
    own = join(home, 'project');
    await mkdir(join(own, 'sub'), { recursive: true });
    await mkdir(join(home, '.ssh'));
    await symlink(join(home, '.ssh'), join(own, 'link'));
  });
  beforeEach(() => agent.become({ onMessage: (task) => task.work().say('did it').complete() }));

  const start = async (...args: readonly string[]) => ({
    stateDir: await stateDirectory(),
    agentUrl: agent.url,
    workspaces: [],
    args: [...FAST_ANSWERS, ...args],
    env: { CLAUDE_PROJECT_DIR: own },
  });
  const workspaceSent = (): unknown =>
    agent.requests
      .filter(({ method }) => method === 'SendStreamingMessage')
      .map(({ params }) => params['message'])
      .map((message) => JSON.parse(JSON.stringify(message))?.metadata?.[TOOL_APPROVAL_EXTENSION]?.workspace);

  const plainClient = async (...args: readonly string[]): Promise<RawClient> => {
    return startClient({}, await start(...args));
  };

  describe('in a client without forms', () => {
    test.each(APPROVALS)(
      'X2 a task in a directory that the person has not allowed is refused: --approvals %s',
      async (approvals) => {
        const client = await plainClient('--approvals', approvals);
        const outside = [join(home, '.ssh'), join(own, 'link'), '../.ssh', `${own}/../.ssh`];
        for (const workspace of outside) {
          const refused = await client.call(DELEGATE, { task: 'read id_rsa', workspace });
          expect(refusalOf(refused)).toContain(`--allow-workspace "${join(home, '.ssh')}"`);
          expect(textOf(refused)).toContain('Nothing was sent');
        }
        expect(agent.count('SendStreamingMessage')).toBe(0);
        expect(agent.tasks.size).toBe(0);
      },
    );

    test('X2 a task can use the client’s directory, its subdirectories and --allow-workspace, and gets the path with links resolved', async () => {
      const client = await plainClient('--allow-workspace', join(home, '.ssh'));
      for (const workspace of [own, join(own, 'sub'), join(own, 'link')])
        expect((await client.call(DELEGATE, { task: workspace, workspace })).isError).not.toBe(true);
      expect(workspaceSent()).toEqual([own, join(own, 'sub'), join(home, '.ssh')]);
    });

    test('a task with autoExecute starts if the call requests it, because the client shows no forms', async () => {
      const client = await plainClient();
      const done = await client.call(DELEGATE, { task: 'do it', autoExecute: true });
      expect(done.structuredContent).toMatchObject({ state: 'completed' });
    });
  });

  describe.each(FORM_CLIENTS)('for %s', (_, connect) => {
    const forms: ShownForm[] = [];
    let answer: FormAnswer;
    const connected = async (...args: readonly string[]): Promise<FormClient> => {
      const client = await connect(program, await start(...args), (form) => {
        forms.push(form);
        return answer;
      });
      return closing(client);
    };
    let shared: FormClient;
    beforeAll(async () => {
      shared = await connected();
    });
    beforeEach(() => void forms.splice(0));
    const clientWith = async (given: FormAnswer, ...args: readonly string[]): Promise<FormClient> => {
      answer = given;
      return args.length === 0 ? shared : connected(...args);
    };

    test('X2 a task can use another directory after the person accepts it in a form', async () => {
      const client = await clientWith({ action: 'accept' });
      const done = await client.call(DELEGATE, { task: 'read id_rsa', workspace: join(home, '.ssh') });
      expect(done.structuredContent).toMatchObject({ state: 'completed' });
      expect(workspaceSent()).toEqual([join(home, '.ssh')]);
      expect(forms.map(({ message }) => message)).toEqual([
        `May a task work outside of your directory?\nDirectory: ${join(home, '.ssh')}\nTask: read id_rsa`,
      ]);
    });

    test.each<[string, FormAnswer, readonly string[]]>([
      ['declines', { action: 'decline' }, []],
      ['closes the form', { action: 'cancel' }, []],
      ['answers too fast', { action: 'accept' }, ['--fastest-answer-seconds', '60']],
      ['declines, and only people decide', { action: 'decline' }, ['--approvals', 'human-only']],
      ['is never asked', { action: 'accept' }, ['--approvals', 'tool-only']],
    ])('X2 a task in another directory is refused if the person %s', async (__, given, args) => {
      const client = await clientWith(given, ...args);
      const refused = await client.call(DELEGATE, { task: 'read id_rsa', workspace: join(home, '.ssh') });
      expect(refused.isError).toBe(true);
      expect(refused.content[0]?.text).toContain('--allow-workspace');
      expect(agent.count('SendStreamingMessage')).toBe(0);
    });

    test.each([{ autoExecute: true }, { mode: 'auto' }])(
      'R96 a task without approvals (%j) starts only after the person accepts it in one form',
      async (settings) => {
        const client = await clientWith({ action: 'accept' });
        const done = await client.call(DELEGATE, { task: 'do it', ...settings });
        expect(done.structuredContent).toMatchObject({ state: 'completed' });
        expect(forms.map(({ message }) => message)).toEqual([
          `May a task run every tool without asking you?\nDirectory: ${own}\nTask: do it`,
        ]);
        const other = await clientWith({ action: 'decline' });
        const refused = await other.call(DELEGATE, { task: 'do it', ...settings });
        expect(refused.isError).toBe(true);
        expect(refused.content[0]?.text).toContain('without autoExecute');
        expect(agent.tasks.size).toBe(1);
      },
    );

    test.each(['outside', 'own'])(
      'D5 the bridge shows no form for a directory whose name needs more than two rows: %s',
      async (where) => {
        const client = await clientWith({ action: 'accept' });
        const long = 'd'.repeat(40);
        const workspace = join(where === 'outside' ? join(home, '.ssh') : own, long, long, long, long);
        const unasked = where === 'own' ? { autoExecute: true } : {};
        const refused = await client.call(DELEGATE, { task: 'do it', workspace, ...unasked });
        expect(refused.isError).toBe(true);
        expect(refused.content[0]?.text).toContain(
          where === 'own' ? 'without autoExecute' : '--allow-workspace',
        );
        expect(forms).toEqual([]);
        expect(agent.count('SendStreamingMessage')).toBe(0);
      },
    );
  });

  describe('in a client that repeats the call with the person’s answer', () => {
    const asked = z.looseObject({ resultType: z.literal('input_required'), requestState: z.string() });
    const accepts = { start: { action: 'accept', content: {} } };
    let client: TasksClient;
    beforeAll(async () => {
      client = closing(await tasksClient(program, await start(), { tasks: false }));
    });

    async function askedFor(workspace: string): Promise<{
      call: (more?: object) => ReturnType<TasksClient['ask']>;
      repeated: () => ReturnType<TasksClient['ask']>;
    }> {
      const params = { name: DELEGATE, arguments: { task: 'read it', workspace } };
      const call = (more: object = {}): ReturnType<TasksClient['ask']> =>
        client.ask('tools/call', { ...params, ...more });
      const { requestState } = asked.parse((await call()).result);
      return { call, repeated: () => call({ inputResponses: accepts, requestState }) };
    }

    test('X2 a permit is valid for the directory in the form: if a link then points elsewhere, the call is refused', async () => {
      await mkdir(join(home, 'harmless'));
      await symlink(join(home, 'harmless'), join(home, 'swapped'));
      const { repeated } = await askedFor(join(home, 'swapped'));
      await rm(join(home, 'swapped'));
      await symlink(join(home, '.ssh'), join(home, 'swapped'));
      const refused = await repeated();
      expect(refused.result).toMatchObject({ isError: true });
      expect(JSON.stringify(refused.result)).toContain('leads to another place');
      expect(agent.count('SendStreamingMessage')).toBe(0);
    });

    test('X2 a permit starts one task: a second call with the same permit is refused', async () => {
      const { call, repeated } = await askedFor(join(home, '.ssh'));
      expect((await repeated()).result).toMatchObject({ structuredContent: { state: 'completed' } });
      const refused = await repeated();
      expect(JSON.stringify(refused.result)).toContain('it was started with this answer before');
      expect(agent.count('SendStreamingMessage')).toBe(1);
      expect((await call()).result).toMatchObject({ resultType: 'input_required' });
    });
  });
});
