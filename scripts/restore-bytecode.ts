/** Jest runs this after the last test (scripts/own-bytecode.ts). */
export { restoreBytecode as default } from './own-bytecode.ts';
