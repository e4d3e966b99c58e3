import { expect, it } from '@jest/globals';
import { z } from 'zod';
import { mcpServerToolResultSchema } from '../../../../a2a-server/mcp-servers/call-result.ts';
import { createMcpTool } from '../../../../a2a-server/mcp-servers/mcp-tool.ts';
import { PNG } from '../../../support/sample-files.ts';
import { toolInWorkspace } from '../tools/tool-in-workspace.ts';

it('an image from an MCP tool is a file of the result, and the call’s preview stays the input', async () => {
  const image = { type: 'image', mimeType: 'image/png', data: PNG.toString('base64') };
  const tool = createMcpTool({
    server: 'camera',
    definition: {
      name: 'shoot',
      description: 'Takes a picture.',
      hints: { readOnly: false, idempotent: false },
      schema: z.record(z.string(), z.unknown()),
      declared: { type: 'object' },
    },
    trustHints: false,
    timeoutMs: 1_000,
    call: () => Promise.resolve(mcpServerToolResultSchema.parse({ content: [image] })),
  });
  const at = await toolInWorkspace();
  expect(await at.show(tool, { zoom: 2 })).toMatchObject({
    preview: { type: 'json', value: { zoom: 2 } },
  });
  expect(await at.run(tool, { zoom: 2 })).toEqual({
    text: '[file image/png, 70 bytes]',
    summary: 'camera: shoot answered',
    files: [{ bytes: PNG, mediaType: 'image/png' }],
  });
});
