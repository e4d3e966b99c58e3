/** Formats previews, questions and answers as text for people and models. */
import type { QuotedText, TextLimits } from '../text/fit-text.ts';
import { quotedText, visibleLine } from '../text/visible-text.ts';
import { callText } from './call-text.ts';
import type { PendingAction, ToolSource } from './tool-approval.ts';
import type { Answer, FormSchema, Question } from './question.ts';

/**
 * The maximum length of a preview in the text part of an A2A message, which is for clients without the extension. The
 * data part contains the whole preview.
 */
export const TEXT_PART_LIMITS: TextLimits = { characters: 8_000 };

/**
 * Formats a preview. Each line that the agent wrote has a prefix. The line with the working directory has no prefix,
 * because the server writes it.
 */
export function quotedPreview(
  action: Pick<PendingAction, 'tool' | 'source' | 'preview'>,
  room?: TextLimits,
  choiceMark: ChoiceMark = () => '-',
): QuotedText {
  const { preview } = action;
  switch (preview.type) {
    case 'diff':
      // Removes the final line feed of a unified diff, because it would add an empty line.
      return quotedText(preview.diff.replace(/\n$/, ''), room);
    case 'command': {
      const command = quotedText(`$ ${preview.command}`, room);
      return { ...command, text: `${command.text}\n(in ${visibleLine(preview.cwd)})` };
    }
    case 'url':
      return quotedText(preview.url, room);
    case 'json':
      return quotedText(callText(action) ?? jsonText(preview.value), room);
    case 'question':
      return quotedText(questionText(preview, choiceMark), room);
  }
}

/** Returns the mark before a choice of a question. @param at the index of the choice */
type ChoiceMark = (at: number) => string;

/** Formats a preview, with the workspace if the preview does not say where the action takes place. */
export function quotedAction(
  action: Pick<PendingAction, 'tool' | 'source' | 'preview' | 'workspace'>,
  room?: TextLimits,
  choiceMark?: ChoiceMark,
): QuotedText {
  const { workspace } = action;
  const quoted = quotedPreview(action, room, choiceMark);
  return workspace === undefined
    ? quoted
    : { ...quoted, text: `${quoted.text}\n(in ${visibleLine(workspace)})` };
}

function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2) ?? '';
  } catch {
    return '[nested too deep to show]';
  }
}

/**
 * Returns the name of the tool's source. The names of servers and agents are untrusted, and the caller must escape
 * them.
 */
export function toolSourceText(source: ToolSource): string {
  switch (source.type) {
    case 'built-in':
      return 'built in';
    case 'mcp-server':
      return `MCP server ${source.server}`;
    case 'acp-agent':
      return `agent ${source.agent}`;
  }
}

function questionText({ text, choices = [], schema }: Question, choiceMark: ChoiceMark): string {
  const below = [
    ...choices.map(
      ({ label, description }, at) => `${choiceMark(at)} ${label}${descriptionSuffix(description)}`,
    ),
    ...(schema ? fieldLines(schema) : []),
  ];
  return below.length === 0 ? text : `${text}\n\n${below.join('\n')}`;
}

/** Formats an answer: free text unchanged, one line for each chosen label, or the values of a form as JSON. */
export function answerText(answer: Answer): string {
  if (typeof answer === 'string') return answer;
  return Array.isArray(answer) ? answer.join('\n') : JSON.stringify(answer);
}

function fieldLines({ properties, required = [] }: FormSchema): string[] {
  return Object.entries(properties).map(([name, { type, title, description, ...field }]) => {
    const labels = field.enum ?? field.oneOf?.map((one) => one.const) ?? field.items?.enum;
    const kind = labels === undefined ? type : `${type}: ${labels.join(' | ')}`;
    const need = required.includes(name) ? '' : ', optional';
    return `- ${name} (${kind}${need})${descriptionSuffix(description ?? title)}`;
  });
}

function descriptionSuffix(description: string | undefined): string {
  return description === undefined || description === '' ? '' : `: ${description}`;
}
