export type Settled = { ok: true; value: unknown } | { ok: false };

/**
 * The same part, its asynchronous methods timed; whatever else it has is passed on as it is. For parts that are plain
 * objects: methods of a class are not seen.
 */
export function timed<Part extends object>(
  part: Part,
  onCall: (method: string, ms: number, result: Settled) => void,
): Part {
  const methods = Object.entries(part).filter((entry): entry is [string, Method] => isMethod(entry[1]));
  const timedMethods = methods.map(([name, method]) => [name, timedMethod(name, method)]);
  return Object.assign({ ...part }, Object.fromEntries(timedMethods));

  function timedMethod(name: string, method: Method): Method {
    return (...args) => {
      const beganAt = performance.now();
      const result = Reflect.apply(method, part, args);
      if (result instanceof Promise) {
        result.then(
          (value: unknown) => onCall(name, performance.now() - beganAt, { ok: true, value }),
          () => onCall(name, performance.now() - beganAt, { ok: false }),
        );
      }
      return result;
    };
  }
}

type Method = (...args: unknown[]) => unknown;

function isMethod(value: unknown): value is Method {
  return typeof value === "function";
}
