/** Formats the agents of a registry as text for a person. Pure. */
import { countWithNoun } from '../../../../shared/text/one-line.ts';
import { visibleLine } from '../../../../shared/text/visible-text.ts';
import { commandWord } from '../../terminal/command-word.ts';
import { formatTable } from '../../terminal/table.ts';
import type { ParsedAgentList } from './agent-list.ts';

/** The maximum length of a text of the registry on the screen, in UTF-16 code units. */
const MAX_SHOWN_CHARACTERS = 300;

/**
 * Returns the list as text.
 * @param width the width of the terminal in columns; undefined if stdout is not a terminal
 */
export function agentListText(list: ParsedAgentList, width: number | undefined): string {
  const { agents, others, catalogs, total } = list;
  const rows = agents.map(({ name, cardUrl, url, title, description }) => [
    { text: name },
    { text: shownLine(cardUrl ?? url) },
    { text: shownLine([title, description].filter((each) => each !== '').join(': ')) },
  ]);
  const columns = [{ title: 'NAME' }, { title: 'URL' }, { title: 'AGENT' }];
  const lines = [
    agents.length === 0 ? 'It lists no agent that can be added.' : formatTable(columns, rows, width),
    ...unusableEntryLines(list),
  ];
  if (others > 0) lines.push(`${countWithNoun(others, 'more item')}: no A2A agents.`);
  for (const url of catalogs)
    lines.push(`It refers to another catalog: mcp-a2a-bridge agents import ${commandWord(shownLine(url))}`);
  if (total !== undefined)
    lines.push(
      `The registry has ${total} agents. This is one page. The next page has another query in its URL.`,
    );
  return lines.join('\n');
}

/** Returns one line for each entry that names no usable agent. */
export function unusableEntryLines({ unusable }: ParsedAgentList): readonly string[] {
  return unusable.map(({ title, problem }) => {
    const entry = title === '' ? 'An entry' : `"${shownLine(title)}"`;
    return `! ${entry} cannot be used: ${shownLine(problem)}.`;
  });
}

/**
 * Returns a text of the registry as one line. Cuts the text before escaping it, so that a very long text costs no time.
 */
function shownLine(text: string): string {
  return visibleLine(text.slice(0, MAX_SHOWN_CHARACTERS + 1), MAX_SHOWN_CHARACTERS);
}
