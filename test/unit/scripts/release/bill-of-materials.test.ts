/** Tests which packages the bill of materials lists. */
import { expect, it } from '@jest/globals';
import { shippedMaterials } from '../../../../scripts/release/bill-of-materials.ts';

const component = (ref: string, more: object = {}) => ({
  'bom-ref': ref,
  name: ref.replace(/@[^@]+$/, ''),
  version: ref.replace(/^.*@/, ''),
  ...more,
});
const root = component('mcp-a2a-bridge@1.0.0', { name: 'some-directory' });
const bom = (refs: string[], dependencies: { ref: string; dependsOn: string[] }[] = []) => ({
  specVersion: '1.5',
  metadata: { component: root },
  components: refs.map((ref) => component(ref, { scope: 'optional' })),
  dependencies,
});

it('the bill of materials has what npm installs and what the build contains, and no tool of the development', () => {
  const all = bom(
    ['@libsql/linux@1.0.0', 'libsql@1.0.0', '@a/bundled@1.0.0', 'deep@1.0.0', 'jest@1.0.0'],
    [
      { ref: 'mcp-a2a-bridge@1.0.0', dependsOn: ['libsql@1.0.0', '@a/bundled@1.0.0', 'jest@1.0.0'] },
      { ref: 'libsql@1.0.0', dependsOn: ['@libsql/linux@1.0.0'] },
      { ref: 'jest@1.0.0', dependsOn: ['deep@1.0.0'] },
      { ref: 'deep@1.0.0', dependsOn: [] },
    ],
  );
  const bundled = [
    { name: '@a/bundled', version: '1.0.0' },
    { name: 'deep', version: '1.0.0' },
  ];
  const shipped = shippedMaterials(all, { dependencies: ['libsql'], bundled });
  expect(shipped.metadata.component.name).toBe('mcp-a2a-bridge');
  expect(shipped.components.map((each) => [each['bom-ref'], each['scope']])).toEqual([
    ['@libsql/linux@1.0.0', 'optional'],
    ['libsql@1.0.0', 'optional'],
    ['@a/bundled@1.0.0', 'required'],
    ['deep@1.0.0', 'required'],
  ]);
  expect(shipped.dependencies).toEqual([
    {
      ref: 'mcp-a2a-bridge@1.0.0',
      dependsOn: ['libsql@1.0.0', '@libsql/linux@1.0.0', '@a/bundled@1.0.0', 'deep@1.0.0'],
    },
    { ref: 'libsql@1.0.0', dependsOn: ['@libsql/linux@1.0.0'] },
    { ref: 'deep@1.0.0', dependsOn: [] },
  ]);
  expect(() => shippedMaterials(bom([]), { dependencies: [], bundled })).toThrow(
    'lacks @a/bundled@1.0.0, deep@1.0.0',
  );
});
