/**
 * `$NAME` in a channel's settings: the value is that of a variable of the instance that uses it. A channel may be changed
 * by people who must not read the service's environment, so which names count is decided by the instance
 * (config/channel-variables.ts).
 */

/** Every field that takes `$NAME`; `*` is any name or place in a list. Only CHANNELS_FILE takes it in `secretKey`. */
export const VARIABLE_FIELDS = [
  "secretKey",
  "agent.mcpServers.*.headers.*",
  "agent.mcpServers.*.identity.key",
  "agent.mcpServers.*.oauth.clientId",
  "agent.mcpServers.*.oauth.clientSecret",
  "webhooks.*.secret",
  "messenger.settings.*",
] as const;

/** The name in `$NAME`; null if the text is anything else. */
export function variableName(text: string): string | null {
  return /^\$([A-Za-z_][A-Za-z0-9_]*)$/.exec(text)?.[1] ?? null;
}

export interface NamedVariable {
  /** `agent.mcpServers.orders.headers.x-key` */
  field: string;
  name: string;
}

/** The variables that these settings name, with the fields that name them. */
export function variablesOf(settings: object): NamedVariable[] {
  return VARIABLE_FIELDS.flatMap((field) => namedAt(settings, field.split("."), []));
}

function namedAt(value: unknown, path: readonly string[], above: readonly string[]): NamedVariable[] {
  const [part, ...rest] = path;
  if (part === undefined) {
    const name = typeof value === "string" ? variableName(value) : null;
    return name === null ? [] : [{ field: above.join("."), name }];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value)
    .filter(([key]) => part === "*" || key === part)
    .flatMap(([key, below]) => namedAt(below, rest, [...above, key]));
}
