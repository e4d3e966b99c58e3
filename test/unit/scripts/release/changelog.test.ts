/** Tests the changelog of a release. */
import { describe, expect, it } from '@jest/globals';
import { notesOf, releaseChangelog } from '../../../../scripts/release/changelog.ts';

const HEAD = '# Changelog\n\nThe format.\n\n';
const OLD = '## 1.0.0 - 2026-01-01\n\n- The first.\n';

describe('the changelog of a release', () => {
  it('the section "Unreleased" becomes the section of the version, with its date, and a new one is empty', () => {
    const text = `${HEAD}## Unreleased\n\n- A thing.\n- It costs $& and $1.\n\n${OLD}`;
    const notes = '- A thing.\n- It costs $& and $1.';
    expect(releaseChangelog(text, '1.1.0', '2026-02-03')).toEqual({
      type: 'released',
      notes,
      text: `${HEAD}## Unreleased\n\n## 1.1.0 - 2026-02-03\n\n${notes}\n\n${OLD}`,
    });
  });

  it('the first release has no section after it', () => {
    expect(releaseChangelog(`${HEAD}## Unreleased\n\nThe first version.\n`, '0.1.0', '2026-02-03')).toEqual({
      type: 'released',
      notes: 'The first version.',
      text: `${HEAD}## Unreleased\n\n## 0.1.0 - 2026-02-03\n\nThe first version.\n`,
    });
  });

  it('what a release has written, the next release reads', () => {
    const first = releaseChangelog(`${HEAD}## Unreleased\n\nOne.\n`, '0.1.0', '2026-02-03');
    const text = first.type === 'released' ? first.text : '';
    expect(releaseChangelog(text, '0.2.0', '2026-02-04')).toMatchObject({
      message: expect.stringContaining('nothing under'),
    });
    const next = text.replace('## Unreleased\n', '## Unreleased\n\nTwo.\n');
    const second = releaseChangelog(next, '0.2.0', '2026-02-04');
    expect(second).toMatchObject({ type: 'released', notes: 'Two.' });
    const released = second.type === 'released' ? second.text : '';
    expect([notesOf(released, '0.2.0'), notesOf(released, '0.1.0'), notesOf(released, '0.3.0')]).toEqual([
      'Two.',
      'One.',
      undefined,
    ]);
  });

  it.each([
    ['without a section', `${HEAD}${OLD}`, /nothing under "## Unreleased"/],
    ['with an empty section', `${HEAD}## Unreleased\n\n${OLD}`, /nothing under "## Unreleased"/],
    [
      'with the version already',
      `${HEAD}## Unreleased\n\n- A thing.\n\n## 1.1.0 - 2026-01-02\n`,
      /has a section for 1\.1\.0/,
    ],
  ])('a changelog %s is refused', (_, text, message) => {
    expect(releaseChangelog(text, '1.1.0', '2026-02-03')).toEqual({
      type: 'refused',
      message: expect.stringMatching(message),
    });
  });
});
