import { describe, expect, it } from '@jest/globals';
import { serveArgumentsProblem, serveFlags } from '../../../../bridge/settings/serve-arguments.ts';

describe('the flags of a bridge that a client starts', () => {
  it.each([
    [['--state-dir', '/tmp/doctor', '--http'], { stateDir: '/tmp/doctor', http: true }],
    [['--no-auto-start', '--preview=a', '--preview', 'b'], { autoStart: false, preview: ['a', 'b'] }],
  ])('%j are read without the command line', (args, flags) => expect(serveFlags(args)).toEqual(flags));

  it.each([
    [['doctor']],
    [['--state-dir', '/tmp', 'tasks']],
    [['--help']],
    [['-V']],
    [['--agnt-url', 'x']],
    [['']],
  ])('the command line reads %j', (args) => expect(serveFlags(args)).toBeUndefined());
});

describe('the arguments of a bridge that a client starts', () => {
  it.each([
    [[]],
    [['--agent-url', 'https://agent.example.com', '--no-auto-start']],
    [['--state-dir', '/tmp/state', '--http']],
    [['--agent-url', '${AGENT_URL}']],
  ])('%j start it', (args) => {
    expect(serveArgumentsProblem(args)).toBeUndefined();
  });

  it.each([
    [['--agnt-url', 'https://agent.example.com'], /unknown option '--agnt-url'.*--agent-url/],
    [['--agent-url'], /argument missing/],
    [['--agent-url', 'agent.example.com'], /"agentUrl" from flag --agent-url/],
    [['doctor'], /too many arguments/],
    [['--agnt-url', '${AGENT_URL}'], /unknown option/],
  ])('%j do not, and the reason is named', (args, problem) => {
    expect(serveArgumentsProblem(args)).toMatch(problem);
  });
});
