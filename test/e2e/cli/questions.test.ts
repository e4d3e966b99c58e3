/** Tests answers to a model's questions at a terminal, with the real command line and server. */
import { describe, expect, it } from '@jest/globals';
import { cliAtTerminal } from './support/cli.ts';
import {
  cliStage,
  cliStageAgain,
  codeShownIn,
  sharedCliStage,
  type SharedCliStage,
} from './support/cli-stage.ts';
import { askPerson, plan } from '../../support/offline-plan.ts';

const ask = (question: string) => ({ tool: 'ask-person', input: { question } });
const TASK = plan(askPerson('Which colour?', ['red', 'light blue']));

/** Starts a task that waits for an answer. */
async function waiting(
  on: Pick<SharedCliStage, 'peer'>,
  text = TASK,
): Promise<{ id: string; calls: string[] }> {
  const { sessionId, pending } = await on.peer.send(text);
  return { id: sessionId, calls: pending.map(({ callId }) => callId) };
}

/** The program `script` takes different arguments on other systems. */
const onLinux = process.platform === 'linux' ? it : it.skip;

describe('the command answer with choices', () => {
  it('R20 D1 answer accepts a choice or its number after a restart of the server; with any other text the question still waits', async () => {
    const before = await cliStage();
    const { id, calls } = await waiting(before);
    await before.server.kill();
    const on = await cliStageAgain(before);
    const code = await on.code(id);
    const stranger = await on.run('answer', code, 'green');
    expect(stranger.code).not.toBe(0);
    expect(stranger.stderr).toContain(
      '"green" is not one of its choices. The choices are "red", "light blue"',
    );
    const approved = await on.run('approve', code);
    expect(approved.code).not.toBe(0);
    expect(approved.stderr).toContain('"approve" does not answer it');
    expect((await on.run('answer', id)).code).toBe(2);
    const guessed = await on.run('answer', code.slice(0, 6), '2');
    expect(guessed.stdout).toContain('Which colour?');
    expect(guessed).toMatchObject({ code: 2, stderr: expect.stringContaining(`answer ${code} <words>`) });
    const answered = await on.run('answer', code, '2');
    expect(answered.stdout).toContain(`Answered: ${calls[0]}`);
    const watched = await on.run('watch', id);
    expect(watched.stdout).toContain('ask-person: answered by the local user on the command line');
    expect(watched.stdout).toMatch(/working\n│ light blue\n/);
    expect(await on.run('answer', code, '1')).toMatchObject({
      code: 4,
      stderr: expect.stringContaining(`No action waits with the code ${code}: it was decided`),
    });
  });

  it('answer needs the call id if several questions wait', async () => {
    const on = await sharedCliStage();
    const { id, calls } = await waiting(
      on,
      JSON.stringify({ plan: [{ together: [ask('One?'), ask('Two?')] }] }),
    );
    const several = await on.run('answer', id, 'first');
    expect(several.stderr).toContain('Name one with --call');
    const named = await on.run('approve', id, calls[1] ?? '');
    expect((await on.run('answer', codeShownIn(named.stdout), 'second')).code).toBe(0);
    expect((await on.run('deny', await on.code(id), '--reason', 'no idea')).code).toBe(0);
    const { stdout } = await on.run('watch', id);
    expect(stdout).toContain('second');
    expect(stdout).toContain('The person declined to answer. Reason: no idea');
  });

  onLinux('the prompt speaks of choices only if the question has some', async () => {
    const on = await sharedCliStage();
    const { stdout } = await cliAtTerminal(['run', 'ask me "Which colour?"'], {
      ...on.at,
      keys: '\r',
      prompt: 'Enter leaves it waiting',
    });
    expect(stdout).toContain('Answer; Enter leaves it waiting:');
    expect(stdout).not.toContain('number of a choice');
  });

  onLinux('without words the person is shown the question and asked', async () => {
    const on = await sharedCliStage();
    const { id } = await waiting(on);
    const { stdout } = await cliAtTerminal(['answer', id], {
      ...on.at,
      keys: '1\r',
      prompt: 'number of a choice',
    });
    expect(stdout).toContain('2. light blue');
    expect(stdout).toContain('Answered');
    expect((await on.run('watch', id)).stdout).toMatch(/working\n│ red\n/);
  });
});
