/** Tests the example of docs/policies.md against calls that an agent may try. */
import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { CallFacts } from '../../../../a2a-server/policy/call-facts.ts';
import { createPolicy } from '../../../../a2a-server/policy/create-policy.ts';
import { rulesSchema } from '../../../../a2a-server/policy/rule.ts';
import { decideVerdict } from '../../../../a2a-server/policy/verdict.ts';
import { commandCall, writeCall } from '../../../support/judged-calls.ts';

const section = z.object({ server: z.object({ mode: z.literal('accept-edits'), policy: rulesSchema }) });

const blocks = readFileSync('docs/policies.md', 'utf8').matchAll(/```json\n([^]*?)```/gu);
const text = [...blocks].map(([, json = '']) => json).find((json) => json.includes('"policy"')) ?? '';
const { server } = section.parse(JSON.parse(text));
const policy = createPolicy(server.policy, { tools: [], shell: 'sh' });

const says = (call: CallFacts, mode: 'accept-edits' | 'auto' = server.mode) =>
  decideVerdict(call, { policy, settings: { mode }, grants: [] }).type;

describe('the example policy of docs/policies.md', () => {
  it.each(['git status', 'git diff'])('the example policy lets %j run without a question', (command) => {
    expect(says(commandCall(command))).toBe('allow');
  });

  it.each([
    'git diff --no-index --output=/home/me/.bashrc /dev/null evil',
    'git diff --output /home/me/.bashrc',
    'git diff --ext-diff',
    'git diff --textconv',
    'git diff -O/etc/passwd',
    'git diff a.txt',
    'git diff -- a.txt',
    'git diff HEAD',
    'git status --porcelain',
    'git -c diff.external=./evil diff',
    'git -C /elsewhere diff',
    'git --exec-path=. status',
    'git --paginate diff',
    'GIT_EXTERNAL_DIFF=./evil git diff',
    'env GIT_PAGER=./evil git diff',
    'git diff > /home/me/.bashrc',
    'git diff | sh',
    'git diff; ./evil',
    'git diff && ./evil',
    'git diff\n./evil',
    'git diff $(./evil)',
    'git diff `./evil`',
    './git diff',
    'git diff #',
    'npm test',
    'npm test --script-shell=./evil',
    'npm test -- --reporter=./evil',
  ])('the example policy asks about %j', (command) => {
    expect(says(commandCall(command))).toBe('ask');
  });

  it.each(['.git/config', '.git/hooks/pre-commit', 'lib/.git/config', '.GIT/config', '.gitattributes'])(
    'the example policy does not allow a change of %s that would change the effect of an allowed command',
    (path) => {
      expect(says(writeCall(path))).not.toBe('allow');
    },
  );

  it('the example policy allows changes of other files, and denies access to keys', () => {
    expect(says(writeCall('src/a.ts'))).toBe('allow');
    expect(says(writeCall('.env'))).toBe('refuse');
  });

  it.each(['git push', 'sudo git push', 'git p*sh', "sh -c 'git push'"])(
    'with the mode "auto", the example policy refuses %j',
    (command) => {
      expect(says(commandCall(command), 'auto')).toBe('refuse');
    },
  );

  it.each([
    'git -c alias.x=push x',
    'echo push | xargs git',
    'nice ./x',
    'env git p',
    'ls *',
    '$X push',
    'git $(cat x)',
  ])('with the mode "auto", the example policy asks about %j', (command) => {
    expect(says(commandCall(command), 'auto')).toBe('ask');
  });
});
