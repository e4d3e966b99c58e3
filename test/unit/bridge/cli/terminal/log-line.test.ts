import { describe, expect, it } from '@jest/globals';
import { logLine } from '../../../../../bridge/cli/terminal/log-line.ts';
import { paintNothing } from '../../../../../bridge/cli/terminal/paint.ts';

describe('a log line at the terminal', () => {
  it('the line has time, level, text and facts, without the fields that every line repeats', () => {
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
    expect(logLine(line, paintNothing)).toBe('1970-01-01 00:00:00 error m a=b c={"d":1}');
  });

  it.each(['a stack trace', '{"level":30}', '{"level":30,"time":1e300}', '', '[1]', 'null'])(
    'the text %j, which is not a log line, stays unchanged',
    (line) => {
      expect(logLine(line, paintNothing)).toBe(line);
    },
  );

  it('text in a log line cannot move the cursor', () => {
    expect(logLine('x\u{1b}[2J', paintNothing)).toBe('x\\u{1b}[2J');
  });
});
