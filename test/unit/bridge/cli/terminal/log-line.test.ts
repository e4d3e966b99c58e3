import { describe, expect, it } from '@jest/globals';
import { logLine } from '../../../../../bridge/cli/terminal/log-line.ts';
import { plain } from '../../../../../bridge/cli/terminal/paint.ts';

describe('a line of the log', () => {
  it('is time, level, words and facts, without what every line repeats', () => {
    const line = JSON.stringify({
      level: 50,
      time: 0,
      pid: 1,
      hostname: 'h',
      name: 'n',
      msg: 'm',
      a: 'b',
      c: { d: 1 },
    });
    expect(logLine(line, plain)).toBe('1970-01-01 00:00:00 error m a=b c={"d":1}');
  });

  it.each(['a stack trace', '{"level":30}', '', '[1]', 'null'])(
    '%j, which is none, is shown as it is',
    (line) => {
      expect(logLine(line, plain)).toBe(line);
    },
  );

  it('cannot move the cursor', () => {
    expect(logLine('x\u{1b}[2J', plain)).toBe('x\\u{1b}[2J');
  });
});
