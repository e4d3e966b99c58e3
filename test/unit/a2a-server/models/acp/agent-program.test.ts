import { describe, expect, it } from '@jest/globals';
import { acpAgentName, acpCommandText } from '../../../../../a2a-server/models/acp/agent-program.ts';

describe('the command line of an ACP agent', () => {
  it.each([
    ['gemini --acp', 'gemini'],
    ['/usr/local/bin/gemini --acp', 'gemini'],
    ['npx -y @agentclientprotocol/claude-agent-acp', 'claude-agent-acp'],
    ['npx @zed-industries/codex-acp@1.2.3', 'codex-acp'],
    ['node /opt/agent.mjs state', 'agent'],
    ['node', 'node'],
  ])('%s has the name %s', (line, name) => {
    const [command = '', ...args] = line.split(' ');
    expect(acpAgentName({ command, args })).toBe(name);
  });

  it('the command line is shown on one line', () => {
    expect(acpCommandText({ command: 'agent', args: ['--say', 'a\nb'] })).toBe('`agent --say a↵b`');
  });
});
