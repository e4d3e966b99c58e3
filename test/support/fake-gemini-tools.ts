/** The file tools of the fake gemini-cli: their approval details, and their effect on real files. */
import { exec } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { unifiedFileDiff } from '../../shared/text/unified-diff.ts';
import type { PlannedCall } from './fake-gemini-task.ts';

/** A tool call as a model asks for it. */
export interface ModelCall {
  name: string;
  args: Record<string, unknown>;
}

const writeArgs = z.object({ file_path: z.string(), content: z.string() });
const replaceArgs = z.object({ file_path: z.string(), old_string: z.string(), new_string: z.string() });
const shellArgs = z.object({ command: z.string() });

export function plannedCall({ name, args }: ModelCall, callId: string): PlannedCall {
  const planned = { callId, name, args };
  switch (name) {
    case 'write_file': {
      const { file_path: path, content } = writeArgs.parse(args);
      return { ...planned, ...fileEdit(path, () => content) };
    }
    case 'replace': {
      const { file_path: path, old_string, new_string } = replaceArgs.parse(args);
      return { ...planned, ...fileEdit(path, (now) => now.replace(old_string, () => new_string)) };
    }
    case 'run_shell_command': {
      const { command } = shellArgs.parse(args);
      return {
        ...planned,
        details: {
          type: 'exec',
          title: 'Confirm Shell Command',
          command,
          rootCommand: command.split(' ')[0],
        },
        run: async () => (await promisify(exec)(command)).stdout,
      };
    }
    default:
      throw new Error(`no such tool: ${name}`);
  }
}

function fileEdit(
  filePath: string,
  change: (now: string) => string,
): Required<Pick<PlannedCall, 'details' | 'run'>> {
  return {
    details: () => {
      const originalContent = textAt(filePath);
      const newContent = change(originalContent);
      return {
        type: 'edit',
        title: 'Confirm Write',
        fileName: basename(filePath),
        filePath,
        fileDiff: unifiedFileDiff(basename(filePath), originalContent, newContent),
        originalContent,
        newContent,
      };
    },
    // Like the real agent, this tool reads the file when it runs, not when it asks.
    run: () => {
      writeFileSync(filePath, change(textAt(filePath)));
      return 'written';
    },
  };
}

function textAt(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
