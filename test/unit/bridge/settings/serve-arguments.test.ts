import { describe, expect, it } from '@jest/globals';
import { serveArgumentsProblem } from '../../../../bridge/settings/serve-arguments.ts';

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
