/**
 * Returns true if a value has more levels of objects and arrays than `levels`. Works without recursion, because the
 * value may be too deep for the stack.
 */
export function isDeeperThan(value: unknown, levels: number): boolean {
  const open = [{ value, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue;
    if (next.depth >= levels) return true;
    for (const child of Object.values(next.value)) open.push({ value: child, depth: next.depth + 1 });
  }
  return false;
}
