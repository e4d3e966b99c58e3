/** Tests which versions may be released. */
import { describe, expect, it } from '@jest/globals';
import { problemOfVersion } from '../../../../scripts/release/version.ts';

const TAGS = ['v0.1.0', 'v0.9.0', 'v0.10.0', 'v1.0.0-rc.1', 'nightly', 'v-old', ''];

describe('the version of a release', () => {
  it.each(['1.0.0-rc.2', '1.0.0', '1.0.1', '2.0.0'])('%s may follow 1.0.0-rc.1', (version) => {
    expect(problemOfVersion(version, { package: '1.0.0-rc.1', tags: TAGS })).toBeUndefined();
  });

  it('the first release may have the version that package.json has already', () => {
    expect(problemOfVersion('0.1.0', { package: '0.1.0', tags: [] })).toBeUndefined();
  });

  it.each([
    ['1.0', /is not a version/],
    ['v1.0.0', /is not a version/],
    ['1.0.0 ', /is not a version/],
    ['1.0.0+build', /is not a version/],
    ['latest', /is not a version/],
    ['0.0.9', /is older than 0\.1\.0/],
    ['1.0.0-rc.1', /The tag v1\.0\.0-rc\.1 exists already/],
    ['0.10.0', /0\.10\.0 is not newer than 1\.0\.0-rc\.1/],
    ['0.11.0', /0\.11\.0 is not newer than 1\.0\.0-rc\.1/],
  ])('"%s" is refused', (version, reason) => {
    expect(problemOfVersion(version, { package: '0.1.0', tags: TAGS })).toMatch(reason);
  });
});
