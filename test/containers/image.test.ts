/**
 * Builds the image of deploy/Dockerfile, and runs it as docs/deploy.md says. Takes minutes: `npm run test:containers`.
 *
 * `NODE_IMAGE` names another base image than the Dockerfile does (`make-base-image.sh`). `IMAGE` names an image to test
 * instead of a new one.
 */
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, it } from '@jest/globals';
import { execFile, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { A2aPeer } from '../support/a2a-peer.ts';
import { decisionOn } from '../support/a2a-message.ts';

const BUILD_LIMIT_MS = 30 * 60_000;
const BASE = process.env['NODE_IMAGE'];
const GIVEN = process.env['IMAGE'];
const IMAGE = GIVEN ?? `localhost/a2a-server-${randomUUID()}`;

const run = promisify(execFile);

/** @returns what podman prints. @throws Error with its problems */
async function podman(...args: string[]): Promise<string> {
  return (await run('podman', args, { maxBuffer: 100_000_000 })).stdout.trim();
}

function whyNotHere(): string | undefined {
  if (spawnSync('podman', ['--version']).status !== 0) return 'podman is not installed';
  if (BASE !== undefined || GIVEN !== undefined) return undefined;
  const pulled = spawnSync('podman', ['pull', '--quiet', 'docker.io/library/node:22-bookworm-slim']);
  return pulled.status === 0
    ? undefined
    : 'the base image cannot be pulled, and NODE_IMAGE names no other (test/containers/make-base-image.sh makes one)';
}

/** A container with its own volumes. The volumes outlive it. */
interface Container {
  name: string;
  peer: A2aPeer;
  /** Runs a command in the container. @returns what it prints */
  exec: (...command: string[]) => Promise<string>;
}

async function startContainer(volumes: string): Promise<Container> {
  const name = `a2a-server-${randomUUID()}`;
  const hardened = '--read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges'.split(' ');
  const mounts = [`${volumes}-state:/state`, `${volumes}-workspace:/workspace`].flatMap((each) => [
    '--volume',
    each,
  ]);
  const published = ['--publish', '127.0.0.1::41242'];
  await podman('run', '--detach', '--name', name, ...hardened, ...published, ...mounts, IMAGE);
  await untilHealthy(name);
  const exec = (...command: string[]): Promise<string> => podman('exec', name, ...command);
  const address = await podman('port', name, '41242/tcp');
  return {
    name,
    exec,
    peer: new A2aPeer({ url: `http://${address}/`, token: await exec('cat', '/state/token') }),
  };
}

/** Asks as the health check of the image does. The container has no event for it. */
async function untilHealthy(name: string): Promise<void> {
  while (
    !(await podman('healthcheck', 'run', name).then(
      () => true,
      () => false,
    ))
  ) {
    const state = await podman('inspect', '--format', '{{.State.Status}}', name);
    if (state !== 'running') throw new Error(`the container is ${state}: ${await podman('logs', name)}`);
  }
}

const why = whyNotHere();
if (why !== undefined) it.skip(`not run: ${why}`, () => undefined);
else
  describe('the image of a2a-server', () => {
    let volumes: string;
    const containers: Container[] = [];

    beforeAll(async () => {
      if (GIVEN !== undefined) return;
      const base = BASE === undefined ? [] : ['--build-arg', `NODE_IMAGE=${BASE}`];
      // Only the format of Docker has health checks.
      const args = ['--format', 'docker', '--network', 'host', ...base, '--file', 'deploy/Dockerfile'];
      await podman('build', ...args, '--tag', IMAGE, '.');
    }, BUILD_LIMIT_MS);
    beforeEach(() => {
      volumes = `test-${randomUUID()}`;
    });
    afterEach(async () => {
      for (const { name } of containers.splice(0)) await podman('rm', '--force', '--time', '0', name);
      await podman('volume', 'rm', '--force', `${volumes}-state`, `${volumes}-workspace`);
    });
    afterAll(async () => {
      if (GIVEN === undefined) await podman('rmi', '--force', IMAGE);
    });

    async function start(): Promise<Container> {
      const container = await startContainer(volumes);
      containers.push(container);
      return container;
    }

    it('the server runs as user 1000, without capabilities, and writes to its volumes and /tmp only', async () => {
      const { exec } = await start();
      expect(await exec('id', '-u')).toBe('1000');
      const status = await exec('sh', '-c', 'cat /proc/*/status | grep CapEff | sort -u');
      expect(status).toMatch(/^CapEff:\s+0+$/);
      expect(await exec('sh', '-c', 'touch /tmp/x /state/x /workspace/x && echo written')).toBe('written');
      for (const path of ['/x', '/usr/x', '/etc/x'])
        await expect(exec('touch', path)).rejects.toThrow(/Read-only file system/);
      expect(await exec('sh', '-c', 'stat -c %a /state')).toBe('700');
    });

    it('J1 R20 a waiting task survives a kill of the container: another one on the same volume continues it', async () => {
      const first = await start();
      const parked = await first.peer.send('create test.md with hello');
      expect(parked.state).toBe('INPUT_REQUIRED');
      const seen = await first.peer.task(parked.taskId);
      await podman('kill', first.name);
      await podman('rm', '--force', first.name);

      const second = await start();
      expect(await second.peer.task(parked.taskId)).toEqual(seen);
      const stream = await second.peer.decide(parked.taskId, [decisionOn(parked.pending, 'approve')]);
      expect((await stream.rest()).at(-1)?.state).toBe('COMPLETED');
      expect(await second.exec('cat', '/workspace/test.md')).toBe('hello');
    });

    it('the health check fails when the server does not answer', async () => {
      const { name, exec } = await start();
      await exec(
        'sh',
        '-c',
        "kill -STOP $(grep -l '^Name:.*node' /proc/[0-9]*/status | head -1 | cut -d/ -f3)",
      );
      await expect(podman('healthcheck', 'run', name)).rejects.toThrow();
    });
  });
