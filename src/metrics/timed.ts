export type Settled = { ok: true; value: unknown } | { ok: false };

/**
 * The same part, its asynchronous methods timed; whatever else it has is passed on as it is. For parts that are plain
 * objects: methods of a class are not seen.
 */
export function timed<Part extends object>(
  part: Part,
  onCall: (method: string, ms: number, result: Settled) => void,
): Part {
  const methods = Object.entries(part).filter(([, value]) => typeof value === "function");
  const timedMethods = methods.map(([name, method]) => [name, timedMethod(name, method as Method)]);
  return { ...part, ...(Object.fromEntries(timedMethods) as Partial<Part>) };

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
