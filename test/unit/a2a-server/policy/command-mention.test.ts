import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { checkCommandMention } from '../../../../a2a-server/policy/command-mention.ts';

const PUSH = ['git', 'push'];

describe('mentions, which finds a command in a shell line', () => {
  it.each([
    'git push',
    'git push origin main',
    'git  push',
    '/usr/bin/git push',
    'GIT PUSH',
    'git -C /x push',
    'git --no-pager -c a=b push',
    'git status; git push',
    'git status && git push',
    'git status|git push',
    'true & git push',
    'sudo git push',
    'env A=1 git push',
    'A=1 git push',
    'xargs git push < list',
    'sh -c "git push"',
    `sh -c 'echo x; git push'`,
    'echo $(git push)',
    'echo `git push`',
    '(git push)',
    '{ git push; }',
    'cat <(git push)',
    'git status\ngit push',
    'git \\\n push',
    'g"i"t p\\ush',
    '>log git push',
    'git >log push',
    'git 2>&1 push',
    'git pu[s]h',
    'if true; then git push; fi',
    '/usr/bin/g?t push',
    'git >"a log" push',
    'git >a\\ long\\ log push',
    'git --git-dir "/home/a b c/.git" push',
    "git --git-dir 'a; b' push",
    'git --git-dir a\\ b push',
    'git --git-dir="a b c" push',
    'echo \\"; git --git-dir "a b" push',
    'true # it\'s\ngit --git-dir "a b" push',
    'cat <<END\nit\'s\nEND\ngit --git-dir "a b" push',
    // `bash` reads these redirections, and /bin/sh may be `bash`.
    'git &>/dev/null push',
    'git &>>log push',
    'git {log}>/dev/null push',
    'git >\u00A0 push',
    '<&-git push',
    // These are line ends: after an escaped backslash, in a comment, and after characters that only other shells know.
    'true a\\\\\ngit push',
    'true # a\\\ngit push',
    'true a\\\r\ngit push',
    'true a^\ngit push',
    // These are words.
    'git -C {} push',
    'find . -name git -exec {} push ;',
    'git --exec-path=a\u00A0b\u00A0c push',
    "cat <<END\nit's\nEND\ngit -C 'a\nb' push",
  ])('the line %j may run "git push"', (command) => {
    expect(checkCommandMention(command, PUSH, 'sh')).toBe('yes');
  });

  it('X3 after more continued lines than the search reads, a line may run "git push"', () => {
    expect(checkCommandMention(`${'true; \\\n'.repeat(1100)}git push`, PUSH, 'sh')).toBe('yes');
    expect(checkCommandMention(`git push # ${'git '.repeat(31)}`, PUSH, 'sh')).toBe('yes');
  });

  it.each([
    'git config alias.x push && git x',
    'export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0=push; git x',
    'echo \\"; exec /usr/bin/gi? push; echo ""',
    "true # '\nexec /usr/bin/gi? pull # '",
    'echo hsup tig | rev | ash',
    'cat f | fish',
    'hash -p /usr/bin/git g; g push',
    '$GIT push',
    'git $WHAT',
    'eval "$(cat x)"',
    'git${IFS}push',
    '`cat x`',
    'a'.repeat(20_000),
    'nohup g?t push',
    'ls *.ts',
    'timeout 5 *',
    '{git,push}',
    'echo push | xargs git',
    'echo push | xargs -I % git %',
    'parallel git ::: push',
    'git -c alias.p=push p',
    'git -calias.p=push p',
    'git --config-env=alias.p=P p',
    'GIT_CONFIG_COUNT=1 git p',
    'env -u X git p',
    'nice -n 5 git p',
    'export A=1; git p',
    'alias g=git; g push',
    'cat commands | sh',
    '. ./commands',
    "sh -c 'ls *'",
    '{git,push,"a b"}',
    '{git,push,"{"}',
    'sudo /bin/[]g]it push',
    'sudo /bin/["g"]it push',
    'git --config-env=<(true) push',
    'read GIT_CONFIG_COUNT <f; export GIT_CONFIG_COUNT; git p',
    'set -a; read GIT_CONFIG_COUNT <f; git p',
    'true\\\n'.repeat(1600),
    // These are other spellings, because programs complete the beginning of a word.
    'git pus',
    'git --no-pager pus x',
    '/usr/lib/git-core/git-push x',
    'git2 push',
    `${'git '.repeat(31)}status`,
  ])('the line %.30j cannot be parsed with certainty', (command) => {
    expect(checkCommandMention(command, PUSH, 'sh')).toBe('maybe');
  });

  it.each([
    'git status',
    'git pull',
    "grep -r 'a*b' src",
    'node -c x.js',
    'cat .env',
    '[ -f push ]',
    'git log push',
    'git commit a=b',
    'git commit -m "push it"',
    "git log --grep 'a b' push",
    'git status &\npush',
    'echo git',
    'npm test',
    '',
  ])('the line %j does not run "git push"', (command) => {
    expect(checkCommandMention(command, PUSH, 'sh')).toBe('no');
  });

  it.each([
    ['git push origin --force', 'git push --force', 'yes'],
    ['curl --output=f u', 'curl --output', 'yes'],
    ['git push -f', 'git push --force', 'maybe'],
    ['rm -r -f x', 'rm -rf', 'maybe'],
    ['rm x', 'rm -rf', 'no'],
    ['git --no-pager push origin', 'git push --force', 'no'],
    ['pip3.11 install x', 'pip install', 'maybe'],
    ['docker-compose up', 'docker compose up', 'maybe'],
    ['apt-get install x', 'apt install', 'maybe'],
    ['npm i x', 'npm install', 'maybe'],
    ['npmx install', 'npm install', 'no'],
  ])('for the line %j and the rule %j, the result is %s', (command, rule, certainty) => {
    expect(checkCommandMention(command, rule.split(' '), 'sh')).toBe(certainty);
  });

  it('mentions reads the expansions and escapes of cmd', () => {
    expect(checkCommandMention('%GIT% push', PUSH, 'cmd')).toBe('maybe');
    expect(checkCommandMention('g^it push', PUSH, 'cmd')).toBe('yes');
    expect(checkCommandMention('git.exe push', PUSH, 'cmd')).toBe('yes');
    expect(checkCommandMention('"C:\\Program Files\\Git\\git.exe" push', PUSH, 'cmd')).toBe('yes');
    expect(checkCommandMention('npm.cmd publish', ['npm', 'publish'], 'cmd')).toBe('yes');
    expect(checkCommandMention(`echo ' & git --git-dir "a b" push & echo '`, PUSH, 'cmd')).toBe('yes');
  });

  it('mentions finds the command between any other commands', () => {
    const other = fc.stringMatching(/^[a-z]{1,6}( -?[a-z0-9./]{1,6}){0,3}$/u);
    const between = fc.constantFrom('; ', ' && ', ' || ', ' | ', ' & ', '\n', ';');
    const dressed = fc.constantFrom(
      (command: string) => command,
      (command: string) => `(${command})`,
      (command: string) => `sh -c '${command}'`,
      (command: string) => `echo $(${command})`,
      (command: string) => `nohup ${command}`,
    );
    fc.assert(
      fc.property(fc.array(other), fc.array(other), between, dressed, (before, after, operator, dress) => {
        const command = [...before, dress('git push'), ...after].join(operator);
        expect(checkCommandMention(command, PUSH, 'sh')).toBe('yes');
      }),
    );
  });
});
