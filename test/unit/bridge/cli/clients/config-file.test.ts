import { describe, expect, it } from '@jest/globals';
import { readEditableConfig, writeConfig } from '../../../../../bridge/cli/clients/config-file.ts';

describe('the configuration file of a client', () => {
  const onLinux = process.platform === 'linux' ? it : it.skip;
  onLinux('a file below /proc is refused, and the command does not hang', async () => {
    const file = await readEditableConfig('/proc/mcp-a2a-bridge/config.json');
    await expect(writeConfig(file, '{}', 0o600)).rejects.toMatchObject({ reason: 'CONFIGURATION' });
  });
});
