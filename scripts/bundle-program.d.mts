import type { BuildOptions, Plugin } from 'esbuild';

interface BundleOptions {
  /** True to include the packages, except libsql. Such a bundle starts faster. By default, they load from node_modules. */
  withPackages?: boolean;
}

/**
 * Bundles a TypeScript program, unless its last bundle is newer than each of its sources. The project's root is the
 * current directory.
 * @param source the path of the program from the project's root
 * @returns the path of the bundle
 */
export function bundleProgram(source: string, options?: BundleOptions): Promise<string>;

/** The options of esbuild for a bundle that Node runs. */
export declare const FOR_NODE: BuildOptions;

/** Leaves out zod's messages in 50 languages, a third of its code. */
export declare const englishZod: Plugin;
