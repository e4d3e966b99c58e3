import type { AgentSkill } from '@a2a-js/sdk';
import type { OfferedCommand } from '../../../shared/protocol/agent-command.ts';
import { acpAgentName } from '../../models/acp/agent-program.ts';
import type { AgentSetting } from '../../models/model-settings.ts';
import type { Tool } from '../../tools/tool.ts';

export interface AgentSkillFacts {
  agent: AgentSetting;
  model: string;
  tools: readonly Pick<Tool, 'name' | 'source' | 'sideEffect' | 'commandOnly'>[];
  /** The names of the configured MCP servers. The card does not list their tools, because the servers start later. */
  mcpServers: readonly string[];
  commands: readonly OfferedCommand[];
  shell: string;
}

/**
 * The maximum number of names in one description. The card is public, so a description does not list all names. It
 * gives only the number of the further names.
 */
const MAX_NAMES = 20;

/**
 * Builds the skills of the agent card from the server's settings (A2A 1.0 §4.4.5). The first skill is the agent itself.
 * Each group of tools is a skill. The last skill is the commands.
 */
export function agentSkills(facts: AgentSkillFacts): AgentSkill[] {
  const tools = facts.tools.filter(({ source, commandOnly }) => source.type === 'built-in' && !commandOnly);
  const withEffect = (effect: Tool['sideEffect']) => tools.filter(({ sideEffect }) => sideEffect === effect);
  const looking = withEffect('none').filter(({ name }) => /-files?$/.test(name));
  return [
    agentSkill(facts),
    ...skillOf([...looking, ...withEffect('files')], (names) =>
      createSkill('files', 'Work on files', {
        description: `Reads and changes the text files of a workspace, and nothing outside it (${names}). Each change is shown as a diff before it is made.`,
        tags: ['files', 'coding'],
        examples: ['Create test.md with hello'],
      }),
    ),
    ...skillOf(withEffect('command'), (names) =>
      createSkill('shell', 'Run commands', {
        description: `Runs shell commands in the workspace (${names}). A person sees each command line before it runs, and can stop it. ${facts.shell}`,
        tags: ['shell', 'coding'],
        examples: ['Run the tests'],
      }),
    ),
    ...skillOf(withEffect('network'), (names) =>
      createSkill('web', 'Read the web', {
        description: `Reads web pages (${names}), only from public addresses unless the operator allows others. A person sees each URL before the request.`,
        tags: ['web'],
        examples: ['Fetch https://example.com and summarise it'],
      }),
    ),
    ...facts.mcpServers.map((server) =>
      createSkill(`mcp-${server}`, `Use ${server}`, {
        description: `Uses the tools of the MCP server ${server}, and asks before each call unless the operator trusts it.`,
        tags: ['mcp'],
      }),
    ),
    ...skillOf(facts.commands, (names) =>
      createSkill('commands', 'Carry out commands', {
        description: `Runs commands without a model: ${names}.`,
        tags: ['commands', 'checkpoints'],
      }),
    ),
  ];
}

/** Returns the skill of these tools or commands. If there are none, returns no skill. */
function skillOf(items: readonly { name: string }[], build: (names: string) => AgentSkill): AgentSkill[] {
  return items.length === 0 ? [] : [build(namesText(items))];
}

function agentSkill({ agent, model }: AgentSkillFacts): AgentSkill {
  switch (agent.type) {
    case 'model':
      return model === 'offline'
        ? createSkill('agent', 'Follow fixed sentences', {
            description:
              'Understands a few fixed sentences, or a JSON plan. No language model is configured: other messages are rejected.',
            tags: ['agent', 'offline'],
            examples: ['Create test.md with hello'],
          })
        : createSkill('agent', 'Carry out a task', {
            description:
              'Works on a task with a language model, asks before each step that has side effects, and gives a second opinion without changing anything.',
            tags: ['agent', 'coding'],
            examples: ['Find out why the tests fail, and fix them', 'Is this design sound?'],
          });
    case 'scripted':
      return createSkill('agent', 'Follow a script', {
        description: 'Follows a script, for tests and demonstrations, without a model.',
        tags: ['agent', 'scripted'],
      });
    case 'acp':
      return createSkill('agent', 'Hand a task to an agent', {
        description: `Hands a task to the agent ${acpAgentName(agent)} over ACP, and asks before each step for which that agent requests permission.`,
        tags: ['agent', 'coding', 'acp'],
        examples: ['Find out why the tests fail, and fix them'],
      });
  }
}

function namesText(items: readonly { name: string }[]): string {
  const names = items.slice(0, MAX_NAMES).map(({ name }) => name);
  const more = items.length - names.length;
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ');
}

function createSkill(
  id: string,
  name: string,
  { description, tags, examples = [] }: { description: string; tags: string[]; examples?: string[] },
): AgentSkill {
  return { id, name, description, tags, examples, inputModes: [], outputModes: [], securityRequirements: [] };
}
