/** An event target that counts its listeners. */
export class CountingTarget extends EventTarget {
  readonly listeners = new Map<string, number>();

  listening(type: string): number {
    return this.listeners.get(type) ?? 0;
  }

  override addEventListener(...args: Parameters<EventTarget['addEventListener']>): void {
    super.addEventListener(...args);
    this.listeners.set(args[0], this.listening(args[0]) + 1);
  }

  override removeEventListener(...args: Parameters<EventTarget['removeEventListener']>): void {
    super.removeEventListener(...args);
    this.listeners.set(args[0], this.listening(args[0]) - 1);
  }
}
