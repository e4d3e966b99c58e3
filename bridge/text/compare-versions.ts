const byNumber = new Intl.Collator('en', { numeric: true });

/**
 * Compares two versions, as Semantic Versioning 2.0 §11 defines. The result is negative if the first version is older,
 * and 0 if neither is. A version with fewer parts, e.g. 1.0, is accepted.
 */
export function compareVersions(one: string, other: string): number {
  const [release, preRelease] = parts(one);
  const [otherRelease, otherPreRelease] = parts(other);
  return (
    byNumber.compare(release, otherRelease) ||
    // A pre-release precedes its release.
    Number(preRelease === '') - Number(otherPreRelease === '') ||
    byNumber.compare(preRelease, otherPreRelease)
  );
}

/** Returns the release and the pre-release, which may be empty. The build, after a "+", does not count. */
function parts(version: string): [release: string, preRelease: string] {
  const [precedence = ''] = version.split('+', 1);
  const [release = '', ...preRelease] = precedence.split('-');
  return [release, preRelease.join('-')];
}
