import { describe, expect, test } from '@jest/globals';
import { PassThrough } from 'node:stream';
import { discardTypedAhead } from '../../../../../bridge/cli/terminal/discard-typed-ahead.ts';

describe('text that a person types before a prompt', () => {
  test('D2 is discarded; the text after the prompt is read', async () => {
    const terminal = new PassThrough();
    terminal.write('y\n');
    terminal.write('y\n');
    await discardTypedAhead(terminal);
    terminal.write('n\n');
    expect(String(terminal.read())).toBe('n\n');
    expect(terminal.listenerCount('data')).toBe(0);
  });

  test('a terminal whose input has ended delays no prompt', async () => {
    const terminal = new PassThrough();
    terminal.end();
    await discardTypedAhead(terminal);
    expect(terminal.readableEnded).toBe(true);
  });
});
