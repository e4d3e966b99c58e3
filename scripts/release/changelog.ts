/** Turns the section "Unreleased" of CHANGELOG.md into the section of a version. Pure. */

export type ChangelogVerdict =
  /** `notes` are the text of the section. */
  { type: 'released'; text: string; notes: string } | { type: 'refused'; message: string };

const UNRELEASED = /^## Unreleased[^\S\n]*\n([^]*?)(?=^## |$(?![^]))/m;

/** @param date the day of the release, `YYYY-MM-DD` */
export function releaseChangelog(text: string, version: string, date: string): ChangelogVerdict {
  if (text.includes(`\n## ${version} `))
    return { type: 'refused', message: `CHANGELOG.md has a section for ${version} already.` };
  const [section, body = ''] = UNRELEASED.exec(text) ?? [];
  const notes = body.trim();
  if (section === undefined || notes === '')
    return {
      type: 'refused',
      message: 'CHANGELOG.md has nothing under "## Unreleased". Say there what users notice.',
    };
  const rest = text.slice(text.indexOf(section) + section.length);
  const released = `## Unreleased\n\n## ${version} - ${date}\n\n${notes}\n${rest === '' ? '' : '\n'}`;
  return { type: 'released', text: text.replace(section + rest, () => released + rest), notes };
}

/** Returns the text of the section of a released version, or undefined. */
export function notesOf(text: string, version: string): string | undefined {
  const sections = text.split(/^## /m).slice(1);
  const section = sections.find((each) => each.startsWith(`${version} - `));
  return section?.slice(section.indexOf('\n')).trim();
}
