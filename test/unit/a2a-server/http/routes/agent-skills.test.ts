import { describe, expect, it } from '@jest/globals';
import { agentSkills, type AgentSkillFacts } from '../../../../../a2a-server/http/routes/agent-skills.ts';
import { builtinTools } from '../../../../../a2a-server/tools/builtin/builtin-tools.ts';

type OwnTool = AgentSkillFacts['tools'][number];

function skills(facts: Partial<AgentSkillFacts> = {}): Record<string, string> {
  const found = agentSkills({
    agent: { type: 'model' },
    model: 'offline',
    tools: [],
    mcpServers: [],
    commands: [],
    shell: '',
    ...facts,
  });
  return Object.fromEntries(found.map(({ id, description }) => [id, description]));
}

describe('the skills in the agent card', () => {
  it('the skills group the existing tools by their effect', () => {
    const all = skills({ tools: builtinTools() });
    expect(Object.keys(all)).toEqual(['agent', 'files', 'shell', 'web']);
    expect(all['files']).toContain('read-file');
    expect(all['files']).toContain('write-file');
    expect(all['shell']).toContain('run-shell-command');
    expect(all['web']).toContain('fetch, crawl');
    const confined = skills({ tools: builtinTools(), shell: 'Commands are confined.' });
    expect(confined['shell']).toContain('Commands are confined.');
    expect(JSON.stringify(all)).not.toContain('wait');
  });

  it('the skills name only existing tools', () => {
    const tools = builtinTools().filter(({ sideEffect }) => sideEffect === 'none');
    expect(Object.keys(skills({ tools }))).toEqual(['agent', 'files']);
    expect(Object.keys(skills())).toEqual(['agent']);
  });

  it('the skills name each configured MCP server', () => {
    const all = skills({ mcpServers: ['tracker', 'mail'] });
    expect(Object.keys(all)).toEqual(['agent', 'mcp-tracker', 'mcp-mail']);
    expect(all['mcp-mail']).toContain('MCP server mail');
  });

  it('the skills name the agent and the commands, but no tool that only commands use', () => {
    expect(skills()['agent']).toContain('No language model is configured');
    expect(skills({ model: 'anthropic:x' })['agent']).toContain('language model');
    expect(JSON.stringify(skills({ model: 'anthropic:x' }))).not.toContain('anthropic');
    expect(skills({ agent: { type: 'scripted', file: '/s.json' } })['agent']).toContain('script');
    const commands = [{ name: 'init', description: '', arguments: [] }];
    expect(skills({ commands })['commands']).toContain('init');
    const restore: OwnTool = {
      name: 'restore-checkpoint',
      source: { type: 'built-in' },
      sideEffect: 'files',
      commandOnly: true,
    };
    expect(Object.keys(skills({ tools: [restore] }))).toEqual(['agent']);
  });
});
