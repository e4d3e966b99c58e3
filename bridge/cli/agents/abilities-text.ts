/** Describes what an agent can do, in lines for a person. Pure. */
import type { AgentAbilities } from '../../agents/abilities.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';

/** Returns one line that names all abilities of an agent. */
export function abilitiesLine(abilities: AgentAbilities): string {
  const { streaming, resumption, approvals, cancel, list, files, duplicates } = abilities;
  const words = [
    streaming === 'yes' ? 'streams' : 'no streams',
    resumption === 'replay' ? 'streams go on without a gap' : 'a broken stream loses output',
    approvals === 'previews' ? 'shows actions before you decide' : 'asks in text',
    cancel === 'yes' ? 'cancels' : `cancel: ${cancel}`,
    list === 'yes' ? 'lists tasks' : `task list: ${list}`,
    `files: ${files.length === 0 ? 'none' : files.join(', ')}`,
    `duplicates ${duplicates}`,
  ];
  return words.join('; ');
}

/** Returns one line for each ability of an agent: its name and a sentence. */
export function abilitiesText(abilities: AgentAbilities): string {
  const { interfaces, dialect, streaming, resumption, cancel, list, files, approvals, duplicates } =
    abilities;
  const rows: readonly (readonly [string, string])[] = [
    ['protocol', `A2A ${interfaces.map((each) => visibleLine(each)).join(', ')}; dialect ${dialect}`],
    ['streaming', streaming === 'yes' ? 'yes' : 'no: the bridge asks for the task every two seconds'],
    [
      'resumption',
      resumption === 'replay'
        ? 'yes: a broken stream goes on at the next event'
        : 'no: after a broken stream the bridge reads the task, and output in between may be missing',
    ],
    [
      'approvals',
      approvals === 'previews'
        ? 'yes: each risky action is shown before you decide'
        : 'as a question in text; A2A has no approvals, and the agent decides when it asks',
    ],
    ['cancel', cancel === 'unknown' ? 'unknown: the agent gave no clear answer' : cancel],
    [
      'task list',
      { yes: 'yes', no: 'no: the bridge lists the sessions that it started', unknown: 'unknown' }[list],
    ],
    ['files', files.length === 0 ? 'none' : files.join(', ')],
    [
      'duplicates',
      duplicates === 'recognized'
        ? 'recognized: the bridge may send a message again after a lost answer'
        : 'unknown: the bridge never sends a message twice; after a lost answer it looks for the task',
    ],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`).join('\n');
}
