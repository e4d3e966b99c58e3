import { describe, expect, test } from '@jest/globals';
import { PassThrough } from 'node:stream';
import { discardTypedAhead, readLine } from '../../../../../bridge/cli/terminal/read-line.ts';

/** A terminal that shows what a person types. */
function atTerminal(): { input: PassThrough; output: PassThrough; shows: (text: string) => Promise<void> } {
  const [input, output] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY: true })];
  let shown = '';
  output.on('data', (chunk: Buffer) => (shown += chunk.toString()));
  const shows = async (text: string): Promise<void> => {
    while (!shown.includes(text)) await new Promise((resolve) => output.once('data', resolve));
  };
  return { input, output, shows };
}

test('a withdrawn prompt passes on the text before Enter, and returns no line', async () => {
  const { input, output, shows } = atTerminal();
  const decided = new AbortController();
  const typed: string[] = [];
  const withdrawal = { signal: decided.signal, onWithdrawn: (text: string) => void typed.push(text) };
  const line = readLine({ input, output, question: 'Approve?', withdrawal });
  input.write('n not this f');
  await shows('n not this f');
  decided.abort();
  expect(await line).toBe('');
  expect(typed).toEqual(['n not this f']);
});

test('a line that the person has finished is returned, and a later withdrawal passes on nothing', async () => {
  const { input, output } = atTerminal();
  const decided = new AbortController();
  const typed: string[] = [];
  const withdrawal = { signal: decided.signal, onWithdrawn: (text: string) => void typed.push(text) };
  const line = readLine({ input, output, question: 'Approve?', withdrawal });
  input.write('y\n');
  expect(await line).toBe('y');
  decided.abort();
  expect(typed).toEqual([]);
});

test('a question that is withdrawn before the prompt is not asked, and returns no line', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const typed: string[] = [];
  const withdrawal = { signal: AbortSignal.abort(), onWithdrawn: (text: string) => void typed.push(text) };
  expect(await readLine({ input, output, question: 'Approve?', withdrawal })).toBe('');
  expect([output.readableLength, typed]).toEqual([0, []]);
});

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
