import { turnDiff } from '../checkpoints/checkpoint-diff.ts';
import { shortCheckpointId, type CheckpointFinder } from '../checkpoints/find-checkpoints.ts';
import { RESTORE_CHECKPOINT } from '../checkpoints/restore-checkpoint-tool.ts';
import { turnChangeOf } from '../checkpoints/restore-preview.ts';
import type { Checkpoint, CheckpointFile } from '../task/compute-checkpoints.ts';
import { countWithNoun, oneLineExcerpt } from '../../shared/text/one-line.ts';
import type { AgentCommand } from './agent-command.ts';

const MAX_CHECKPOINTS = 50;
const MAX_FILE_NAMES = 10;

const ID = { name: 'id', description: 'The checkpoint\'s id from "checkpoint list".', required: true };

export function checkpointCommands(checkpoints: CheckpointFinder): AgentCommand[] {
  return [
    {
      name: 'checkpoint list',
      aliases: ['checkpoint', 'restore list'],
      description: 'Lists the turns that changed files of the workspace, newest first. Each can be undone.',
      arguments: [],
      async begin(_args, { principal, workspace }) {
        const { checkpoints: all, damaged } = await checkpoints.list(principal);
        const here = all.filter((it) => it.workspace === workspace.root);
        const text = listText(here, all.length - here.length, workspace.root);
        return { type: 'answer', text: [text, ...damagedLines(damaged.length)].join('\n') };
      },
    },
    {
      name: 'checkpoint show',
      description: "Shows the changes of a checkpoint's turn as a diff.",
      arguments: [ID],
      async begin([id = ''], { principal, workspace }) {
        const checkpoint = await checkpoints.find(principal, id);
        const there = checkpoint.workspace === workspace.root;
        const diff = there ? await turnDiff(checkpoint, workspace, checkpoints) : '';
        const lines = [
          checkpointLine(checkpoint),
          ...checkpoint.files.map(fileLine),
          ...commandLines(checkpoint),
        ];
        const elsewhere = there
          ? []
          : [
              `Its workspace is ${checkpoint.workspace}. To see its diff, run the command with that workspace.`,
            ];
        return { type: 'answer', text: [...lines, ...elsewhere, '', diff].join('\n').trimEnd() };
      },
    },
    {
      name: 'checkpoint restore',
      aliases: ['restore'],
      description:
        'Undoes one turn: restores the files that it changed, after approval. Refuses if a file has changed since.',
      arguments: [ID],
      begin: async ([id = '']) => ({
        type: 'call',
        text: '',
        tool: RESTORE_CHECKPOINT,
        input: { checkpoint: id },
      }),
    },
    {
      name: 'checkpoint restore-since',
      aliases: ['restore-since'],
      description:
        'Undoes one turn and all later turns in one step: restores the files that they changed, after approval. Refuses if a person or another program has changed a file since.',
      arguments: [ID],
      begin: async ([id = '']) => ({
        type: 'call',
        text: '',
        tool: RESTORE_CHECKPOINT,
        input: { checkpoint: id, since: true },
      }),
    },
  ];
}

function listText(here: readonly Checkpoint[], elsewhere: number, root: string): string {
  const others =
    elsewhere === 0
      ? []
      : [
          `Other workspaces have ${countWithNoun(elsewhere, 'more checkpoint')}. To list them, run the command with that workspace.`,
        ];
  if (here.length === 0) return [`No tool has changed a file of ${root} yet.`, ...others].join('\n');
  const shown = here.slice(0, MAX_CHECKPOINTS);
  const older = here.length - shown.length;
  return [
    `Checkpoints of ${root}, newest first. Files changed by shell commands are not in them.`,
    ...shown.map(
      (it) =>
        `- ${checkpointLine(it)}: ${fileNamesText(it.files)}${it.commands.length === 0 ? '' : `; commands ran in this turn: ${it.commands.map((title) => oneLineExcerpt(title)).join(', ')}`}`,
    ),
    ...(older === 0 ? [] : [`${older} older checkpoints are not shown.`]),
    ...others,
  ].join('\n');
}

function damagedLines(tasks: number): string[] {
  return tasks === 0
    ? []
    : [`${countWithNoun(tasks, 'task')} with damaged events ${tasks === 1 ? 'is' : 'are'} left out.`];
}

function checkpointLine(checkpoint: Checkpoint): string {
  return `${shortCheckpointId(checkpoint)}, ${new Date(checkpoint.at).toISOString()}, turn ${checkpoint.turn} of ${checkpoint.taskId}`;
}

function fileNamesText(files: readonly CheckpointFile[]): string {
  const named = files.slice(0, MAX_FILE_NAMES).map((file) => `${file.path} (${changeText(file)})`);
  return files.length > MAX_FILE_NAMES
    ? `${named.join(', ')} and ${files.length - MAX_FILE_NAMES} more`
    : named.join(', ');
}

function fileLine(file: CheckpointFile): string {
  return `- ${file.path}: ${changeText(file)}`;
}

function changeText(file: CheckpointFile): string {
  const { before } = file;
  return before.type === 'not-saved' ? `changed, not saved: ${before.why}` : turnChangeOf(file);
}

function commandLines({ commands }: Checkpoint): string[] {
  return commands.length === 0
    ? []
    : [
        `Shell commands ran in this turn, and their changes are unknown: ${commands.map((title) => oneLineExcerpt(title)).join(', ')}`,
      ];
}
