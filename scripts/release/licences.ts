/** Reads the packages of THIRD_PARTY_NOTICES.txt, and judges their licences. Pure. */
import satisfies from 'spdx-satisfies';

/** A package whose code or whose files users get. `licence` is an SPDX expression. */
export interface ShippedPackage {
  name: string;
  version: string;
  licence: string;
}

/** Licences that allow the distribution under Apache-2.0. Look at a new one before you add it. */
const ACCEPTED = ['Apache-2.0', 'MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'BlueOak-1.0.0'];

/** The heading of each package in the notices (scripts/third-party-notices.mjs). */
const HEADING = /^={80}\n(\S+) (\S+) \((.+)\)$/gm;
const NO_TEXT = 'The package contains no licence text.';

export function packagesOfNotices(notices: string): ShippedPackage[] {
  return [...notices.matchAll(HEADING)].map(([, name = '', version = '', licence = '']) => ({
    name,
    version,
    licence,
  }));
}

/** Returns one sentence for each package that may not be shipped. */
export function problemsOfLicences(packages: readonly ShippedPackage[]): string[] {
  return packages
    .filter(({ licence }) => !isAccepted(licence))
    .map(
      ({ name, version, licence }) =>
        `${name} ${version} has the licence "${licence}", which is not accepted.`,
    );
}

/** The packages whose licence text is not in the notices. */
export function packagesWithoutText(notices: string): string[] {
  return notices
    .split(/^={80}\n/m)
    .filter((part) => part.includes(NO_TEXT))
    .map((part) => part.slice(0, part.indexOf(' (')));
}

function isAccepted(licence: string): boolean {
  try {
    return satisfies(licence, ACCEPTED);
  } catch {
    return false; // It is no SPDX expression, such as "UNLICENSED" or "SEE LICENSE IN …".
  }
}
