/** What the figures were measured on; nothing that tells whose machine it is. */
import { availableParallelism, cpus, totalmem } from 'node:os';

export function machine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  const memory = Math.round(totalmem() / 1024 ** 3);
  return `Node ${process.version}, ${process.platform} ${process.arch}, ${availableParallelism()} cores (${model}), ${memory} GB`;
}
