/** What a package may contain. Pure. */

/** A file of a package, or of an installation: its path, with slashes, and its size in bytes. */
export interface PackedFile {
  path: string;
  bytes: number;
}

const TOP = /^(?:LICENSE|README\.md|package\.json)$/;
const PROGRAMS =
  /^dist\/(?:THIRD_PARTY_NOTICES\.txt|(?:bridge|a2a-server)\/(?:main\.js|package\.json)|(?:(?:bridge|a2a-server)\/)?[\w.-]+-[A-Z0-9]{8}\.js(?:\.cache)?)$/;
const PAGE = /^dist\/web\/[\w.-]+\.(?:css|html|js|png|svg|webmanifest)$/;
const CLIENT = /^dist\/client\/(?:index\.js|types\/.+\.d\.ts)$/;
const DOCUMENTS = /^(?:docs|examples)\/.+\.(?:html|json|md|mjs|webp)$/;
const ALLOWED = [TOP, PROGRAMS, PAGE, CLIENT, DOCUMENTS];

/** The files that every package must contain, because programs and people rely on them. */
const NEEDED = [
  'LICENSE',
  'README.md',
  'package.json',
  'dist/THIRD_PARTY_NOTICES.txt',
  'dist/bridge/main.js',
  'dist/a2a-server/main.js',
  'dist/client/index.js',
  'dist/client/types/client/index.d.ts',
  'dist/web/index.html',
  'dist/web/card.html',
];

const MB = 1_000_000;
/** The maximum size of a package: the programs, their bytecode, the documents and their pictures. */
const LARGEST_PACKAGE = 20 * MB;

/** Returns one sentence for each thing that is wrong with the files of a package. */
export function problemsOfContents(files: readonly PackedFile[]): string[] {
  const paths = files.map(({ path }) => path);
  const unknown = paths.filter((path) => !ALLOWED.some((allowed) => allowed.test(path)));
  const missing = NEEDED.filter((path) => !paths.includes(path));
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return [
    ...unknown.map((path) => `${path} does not belong into the package.`),
    ...missing.map((path) => `${path} is missing.`),
    ...(bytes > LARGEST_PACKAGE
      ? [`The files take ${megabytes(bytes)}, and ${megabytes(LARGEST_PACKAGE)} are allowed.`]
      : []),
  ];
}

export function megabytes(bytes: number): string {
  return `${(bytes / MB).toFixed(1)} MB`;
}
