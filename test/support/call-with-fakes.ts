/** An object of which a test supplies only the parts that the unit uses. Each part must have its real type. */
type Fake<T> = T extends (...args: infer Args) => infer Result
  ? (...args: Args) => Fake<Result>
  : T extends Promise<infer Value>
    ? Promise<Fake<Value>>
    : T extends object
      ? { [Key in keyof T]?: Fake<T[Key]> }
      : T;

/** Calls the unit with incomplete arguments. The compiler still checks their number, names and types. */
export function callWithFakes<Args extends unknown[], Result>(
  unit: (...args: Args) => Result,
  ...args: { [Index in keyof Args]: Fake<Args[Index]> }
): Result {
  return Reflect.apply(unit, undefined, args);
}
