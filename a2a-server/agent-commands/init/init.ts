/** `init`: proposes a short AGENTS.md for the workspace, from what lies in it. Written by the tool, under approval. */
import { ProductError } from '../../../shared/errors.ts';
import { writeFile } from '../../tools/write-file.ts';
import type { AgentCommand } from '../agent-command.ts';
import { agentsFile } from './agents-file.ts';
import { survey } from './survey.ts';

const AGENTS_FILE = 'AGENTS.md';
const REPLACE = 'replace';

export const init: AgentCommand = {
  name: 'init',
  description: `Writes a short ${AGENTS_FILE} for the workspace from what lies in it, after approval. An ${AGENTS_FILE} that is there is left alone, unless the argument is "${REPLACE}".`,
  arguments: [
    { name: REPLACE, description: `The word "${REPLACE}": write it anew where it exists.`, required: false },
  ],
  async begin([word], { workspace, signal }) {
    if (word !== undefined && word !== REPLACE)
      throw new ProductError(
        'MALFORMED',
        `init takes the word "${REPLACE}" or nothing, not ${JSON.stringify(word.slice(0, 100))}.`,
      );
    const content = agentsFile(await survey(workspace, signal));
    const { kind } = await workspace.locate(AGENTS_FILE);
    if (kind !== 'missing' && word !== REPLACE)
      return {
        type: 'answer',
        text: `There is an ${AGENTS_FILE} already, and it was left as it is. "init ${REPLACE}" proposes this in its place:\n\n${content}`,
      };
    return { type: 'call', text: '', tool: writeFile.name, input: { path: AGENTS_FILE, content } };
  },
};
