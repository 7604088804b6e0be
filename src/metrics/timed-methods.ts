export type Settled = { ok: true; value: unknown } | { ok: false };

/**
 * The same object with its asynchronous methods timed; the rest is unchanged. Only for plain objects: a class's methods
 * are not found.
 */
export function timedMethods<Target extends object>(
  target: Target,
  onCall: (method: string, ms: number, result: Settled) => void,
): Target {
  const methods = Object.entries(target).filter((entry): entry is [string, Method] => isMethod(entry[1]));
  const replaced = methods.map(([name, method]) => [name, timedMethod(name, method)]);
  return Object.assign({ ...target }, Object.fromEntries(replaced));

  function timedMethod(name: string, method: Method): Method {
    return (...args) => {
      const beganAt = performance.now();
      const result = Reflect.apply(method, target, args);
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
