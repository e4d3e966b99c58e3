/** Decides whether a version may be released. Pure. */
import { gt, lt, rcompare, valid } from 'semver';

interface Released {
  /** The version in package.json. It may be the version to release. */
  package: string;
  /** All tags of the repository. */
  tags: readonly string[];
}

export const tagOf = (version: string): string => `v${version}`;

/** Returns why the version may not be released, or undefined. */
export function problemOfVersion(version: string, released: Released): string | undefined {
  if (valid(version) !== version)
    return `"${version}" is not a version. Give one of Semantic Versioning, such as 1.2.0 or 1.2.0-rc.1.`;
  if (lt(version, released.package))
    return `${version} is older than ${released.package}, the version of package.json.`;
  const versions = released.tags.flatMap((tag) => (tag.startsWith('v') ? (valid(tag.slice(1)) ?? []) : []));
  const [newest] = versions.toSorted(rcompare);
  if (newest === version) return `The tag ${tagOf(version)} exists already.`;
  if (newest !== undefined && !gt(version, newest))
    return `${version} is not newer than ${newest}, the newest tag.`;
  return undefined;
}
