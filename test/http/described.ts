/** The API's description, as far as tests read it. */
export interface Described {
  paths: Record<string, Record<string, Operation>>;
}

export interface Operation {
  operationId: string;
  security: Record<string, string[]>[];
  parameters?: DescribedField[];
  requestBody?: { content: Record<string, { schema: object; example?: Record<string, unknown> }> };
  responses: Record<string, { content?: Record<string, { schema: object; example: unknown }> }>;
}

export interface DescribedField {
  name: string;
  in: "path" | "query" | "header";
  schema: object;
  example: string | number;
}

export interface Endpoint {
  method: string;
  /** With `{name}` where a value goes. */
  path: string;
  operation: Operation;
}

/** Every operation, in the order of the description. */
export function endpointsOf(described: Described): Endpoint[] {
  return Object.entries(described.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
}

/** The operation that a request meets; undefined where the description has none. */
export function endpointFor(
  described: Described,
  asked: { method: string; path: string },
): Endpoint | undefined {
  return endpointsOf(described).find(
    ({ method, path }) => method === asked.method && patternOf(path).test(asked.path),
  );
}

/** A preflight has any path below; every other value is one segment. */
function patternOf(path: string): RegExp {
  const segments = path.replace("{path}", ".+").replace(/\{\w+\}/g, "[^/]+");
  return new RegExp(`^${segments}$`);
}
