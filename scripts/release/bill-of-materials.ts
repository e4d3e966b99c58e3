/** Reduces the bill of materials of npm to what users get. Pure. */
import { z } from 'zod';
import type { ShippedPackage } from './licences.ts';

const licence = z.object({
  license: z.object({ id: z.string().optional(), name: z.string().optional() }).optional(),
  expression: z.string().optional(),
});
const component = z.looseObject({
  'bom-ref': z.string(),
  name: z.string(),
  version: z.string(),
  licenses: z.array(licence).optional(),
});

/** The parts of CycloneDX 1.5 that are read. The others stay as they are. */
const bom = z.looseObject({
  metadata: z.looseObject({ component }),
  components: z.array(component),
  dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()).optional() })),
});

/**
 * @param all the output of `npm sbom --sbom-format cyclonedx`: each package of the development
 * @param shipped what users get: the names of `dependencies`, and the packages whose code is in the build
 */
export function shippedMaterials(
  all: unknown,
  shipped: { dependencies: readonly string[]; bundled: readonly Pick<ShippedPackage, 'name' | 'version'>[] },
): z.infer<typeof bom> {
  const whole = bom.parse(all);
  const root = whole.metadata.component['bom-ref'];
  const needs = new Map(whole.dependencies.map(({ ref, dependsOn = [] }) => [ref, dependsOn]));
  const bundled = shipped.bundled.map(({ name, version }) => `${name}@${version}`);
  const installed = withAllNeeds(
    needs,
    (needs.get(root) ?? []).filter((ref) => shipped.dependencies.includes(nameOf(ref))),
  );
  const refs = new Set([...installed, ...bundled]);
  const missing = [...refs].filter((ref) => !whole.components.some((each) => each['bom-ref'] === ref));
  if (missing.length > 0) throw new Error(`npm's bill of materials lacks ${missing.join(', ')}.`);
  return {
    ...whole,
    // npm writes the name of the directory here, so this writes the name of the package.
    metadata: { ...whole.metadata, component: { ...whole.metadata.component, name: nameOf(root) } },
    components: whole.components
      .filter((each) => refs.has(each['bom-ref']))
      .map((each) => (bundled.includes(each['bom-ref']) ? { ...each, scope: 'required' } : each)),
    dependencies: whole.dependencies
      .filter(({ ref }) => ref === root || refs.has(ref))
      .map(({ ref, dependsOn = [] }) => ({
        ref,
        // Some shipped packages are needed only by packages that are not shipped. So the root lists all shipped
        // packages.
        dependsOn: ref === root ? [...refs] : dependsOn.filter((each) => refs.has(each)),
      })),
  };
}

/** @returns an SPDX expression, or the name of another licence, or '' */
export function licenceOf({ licenses = [] }: z.infer<typeof component>): string {
  return licenses
    .map(({ license, expression }) => expression ?? license?.id ?? license?.name ?? '')
    .join(' AND ');
}

function withAllNeeds(needs: ReadonlyMap<string, readonly string[]>, begin: readonly string[]): Set<string> {
  const found = new Set(begin);
  for (const ref of found) for (const each of needs.get(ref) ?? []) found.add(each);
  return found;
}

/** @param ref a reference of npm's, `name@version` */
function nameOf(ref: string): string {
  return ref.replace(/@[^@]+$/, '');
}
