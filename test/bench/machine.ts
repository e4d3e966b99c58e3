/** What the figures were measured on; nothing that tells whose machine it is. */
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';

export function machine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  const memory = Math.round(totalmem() / 1024 ** 3);
  const [load = 0] = loadavg();
  return `Node ${process.version}, ${process.platform} ${process.arch}, ${availableParallelism()} cores (${model}), ${memory} GB, load ${load.toFixed(1)} at the end`;
}
