import { expect, test } from '@jest/globals';
import { withRefusalLog } from '../../../../a2a-server/startup/log-refused-task-requests.ts';
import { ProductError } from '../../../../shared/runtime/errors.ts';
import { createLogger } from '../../../../shared/runtime/logging.ts';

const refuse = (_incoming: unknown) => Promise.reject(new ProductError('UNKNOWN_TASK', 'SECRET'));

test.each(['send', 'recipient'] as const)(
  'a message that `%s` refuses is logged, without its text',
  async (method) => {
    let logged = '';
    const log = createLogger({
      name: 'test',
      level: 'info',
      destination: { write: (line) => void (logged += line) },
    });
    const tasks = withRefusalLog({ send: refuse, recipient: refuse, cancel: refuse }, log);
    const refused = tasks[method]({
      principal: 'local',
      channel: 'a2a',
      message: { messageId: 'm-1', parts: [{ type: 'text', text: 'SECRET' }] },
      bodyHash: '',
      taskId: 'task-1',
      settings: {},
      wordsDecide: false,
    });
    await expect(refused).rejects.toThrow('SECRET');
    expect(JSON.parse(logged)).toMatchObject({
      msg: 'a message was refused',
      taskId: 'task-1',
      messageId: 'm-1',
      principal: 'local',
      reason: 'UNKNOWN_TASK',
    });
    expect(logged).not.toContain('SECRET');
  },
);
