/** A one-time event that several callers can await. */
interface Signal {
  happened: Promise<void>;
  happen: () => void;
}

export function signal(): Signal {
  const held: { happen?: () => void } = {};
  const happened = new Promise<void>((resolve) => {
    held.happen = resolve;
  });
  return { happened, happen: () => held.happen?.() };
}
