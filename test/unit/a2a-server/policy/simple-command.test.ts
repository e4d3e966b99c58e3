import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { quote } from 'shell-quote';
import { simpleCommandWords } from '../../../../a2a-server/policy/simple-command.ts';
import { policyOf, commandCall } from '../../../support/judged-calls.ts';

function allowed(command: string, rule = 'git status'): boolean {
  return policyOf({ action: 'allow', command: rule }).rules[0]?.matches(commandCall(command)) === 'yes';
}

describe('plainWords, which reads a shell command as a list of words', () => {
  it.each([
    ['git status', ['git', 'status']],
    ['  git   status  --short ', ['git', 'status', '--short']],
    [`git commit -m "a & b; c | d > e (f)"`, ['git', 'commit', '-m', 'a & b; c | d > e (f)']],
    [`echo 'it is' "so"`, ['echo', 'it is', 'so']],
    [`g"it" st'at'us`, ['git', 'status']],
    [`echo '~' "{a,b}" '[ab]' HEAD~1`, ['echo', '~', '{a,b}', '[ab]', 'HEAD~1']],
  ])('plainWords reads %j as these words', (command, words) => {
    expect(simpleCommandWords(command, 'sh')).toEqual(words);
  });

  it.each([
    'git status; rm -rf /',
    'git status && rm x',
    'git status || rm x',
    'git status | sh',
    'git status & rm x',
    'git status > /etc/passwd',
    'git status < x',
    'git status $(rm x)',
    'git status `rm x`',
    'git status "$(rm x)"',
    'git status "`rm x`"',
    'git status $HOME',
    'git status\nrm x',
    'git status\r\nrm x',
    'git status <(rm x)',
    '(git status)',
    '{ git status; }',
    'git status # and more',
    'git status *',
    'git status [ab]',
    'git status {a,b}',
    'git status ~',
    'git status --file=~/x',
    'GIT_DIR=/x git status',
    'git st\\atus',
    'git status "unbalanced',
    "git status 'unbalanced",
    'git\u00a0status',
    'git status \u0000',
    '',
    '   ',
    `git status ${'x'.repeat(5000)}`,
  ])('plainWords refuses %j, so a rule for "git status" does not allow the command', (command) => {
    expect(allowed(command)).toBe(false);
    expect(allowed(command, 'git status …')).toBe(false);
    expect(simpleCommandWords(command, 'sh')).toBeUndefined();
  });

  it.each(['git "status"', 'git  status'])('a rule for "git status" matches %j', (command) => {
    expect(allowed(command)).toBe(true);
  });

  it.each(['git status --short', 'git status -- a.txt', 'git status a.txt', 'git status ""'])(
    'a rule for "git status …" matches %j, and a rule for "git status" does not',
    (command) => {
      expect(allowed(command)).toBe(false);
      expect(allowed(command, 'git status …')).toBe(true);
      expect(allowed(command, 'git status ...')).toBe(true);
    },
  );

  it.each(['git', 'git statusx', 'git stash', 'sudo git status', '/tmp/git status', '"git status"'])(
    'a rule for "git status" does not match %j',
    (command) => expect(allowed(command)).toBe(false),
  );

  it.each(['git status & del x', `git status 'a & del x'`, 'git status ^& del x', 'git status %X%'])(
    'for cmd, plainWords refuses %j, because the quotes of cmd differ',
    (command) => {
      expect(simpleCommandWords(command, 'cmd')).toBeUndefined();
      expect(simpleCommandWords('git status --short', 'cmd')).toEqual(['git', 'status', '--short']);
    },
  );

  it('no rule allows a compound command because of an allowed part', () => {
    const word = fc.stringMatching(/^[a-z0-9./=-]{1,8}$/u);
    const command = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(' '));
    const space = fc.constantFrom('', ' ', '  ', '\t');
    const compound = fc.oneof(
      fc
        .tuple(
          space,
          fc.constantFrom(';', '&&', '||', '|', '|&', '&', '\n', '\r\n', '>', '>>', '<', '2>', '>&'),
          space,
          command,
        )
        .map(([before, operator, after, other]) => `git status${before}${operator}${after}${other}`),
      command.map((other) => `git status $(${other})`),
      command.map((other) => `git status "$(${other})"`),
      command.map((other) => `git status \`${other}\``),
      command.map((other) => `git status "\`${other}\`"`),
      command.map((other) => `git status <(${other})`),
      command.map((other) => `git status >(${other})`),
      fc.tuple(command, command).map(([one, two]) => `(git status ${one}; ${two})`),
      command.map((other) => `X=$(${other}) git status`),
      word.map((value) => `PATH=${value} git status`),
      word.map((name) => `git status $${name}`),
      word.map((name) => `git status \${${name}:-x}`),
      command.map((other) => `git status <<E\n${other}\nE`),
      command.map((other) => `git status \\\n${other}`),
    );
    fc.assert(fc.property(compound, (text) => !allowed(text)));
  });

  it('any words, when quoted, parse back to the same words, and a rule that allows their first words allows the command', () => {
    const text = fc.stringMatching(/^[a-zA-Z0-9 ;&|<>()#*?~{}'.,:=@%+/-]{0,12}$/u);
    fc.assert(
      fc.property(fc.array(text), (rest) => {
        const command = quote(['git', 'status', ...rest]);
        const words = simpleCommandWords(command, 'sh');
        // If the quoting needs escapes, the words are undefined, and policy asks about the call.
        if (words !== undefined) expect(words).toEqual(['git', 'status', ...rest]);
        expect(allowed(command, 'git status …')).toBe(words !== undefined);
        expect(allowed(command)).toBe(words !== undefined && rest.length === 0);
      }),
    );
  });
});
