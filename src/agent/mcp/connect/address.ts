import type { McpHttpServer } from "../../../domain/channels/channel.ts";
import { variableName } from "../../../domain/channels/channel-variables.ts";
import { Secret } from "../../../secret.ts";
import type { AskingNow } from "./asking.ts";
import type { ConnectionOptions } from "./connection-options.ts";
import { identityToken } from "../identity.ts";
import type { HttpAddress } from "./transports.ts";
import { Unusable } from "./unusable.ts";

/** A call that reports progress for ever ends here. */
export const LONGEST_CALL_MS = 600_000;

/** The settings with what their `$NAME`s stand for. */
export function addressed(
  { url, headers = {}, oauth, identity }: McpHttpServer,
  { channel, variable, allowsPrivate, callMs, tokens }: ConnectionOptions,
  asking: AskingNow,
): HttpAddress {
  const plain = (value: string) => resolved(value, variable).reveal();
  return {
    url,
    allowsPrivate,
    longestMs: Math.max(callMs, LONGEST_CALL_MS),
    asking: () => asking.present,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, plain(value)])),
    bearer: identity ? bearerOf(resolved(identity.key, variable), channel, asking) : null,
    oauth:
      oauth && !oauth.perUser
        ? { ...oauth, clientId: plain(oauth.clientId), clientSecret: plain(oauth.clientSecret) }
        : null,
    issuer: oauth?.issuer ?? null,
    visitor: tokens ?? null,
  };
}

/** What the settings tell the server alone, as it stands there and as what its `$NAME`s stand for. */
export function secretsOf({ settings, variable }: ConnectionOptions): Secret[] {
  const values =
    "url" in settings
      ? [
          ...Object.values(settings.headers ?? {}),
          ...(settings.oauth?.clientSecret === undefined ? [] : [settings.oauth.clientSecret]),
          ...(settings.identity ? [settings.identity.key] : []),
        ]
      : Object.values(settings.env ?? {});
  return values.flatMap((value) => {
    const name = variableName(value);
    const text = name === null ? value : variable(name)?.reveal();
    // `Bearer x` may come back without its first word.
    return text === undefined ? [] : [text, ...text.split(" ").slice(1)].map((part) => new Secret(part));
  });
}

function bearerOf(key: Secret, channel: string, asking: AskingNow): () => string {
  return () => identityToken(key, { channel, caller: asking.present?.caller ?? null, nowMs: Date.now() });
}

export function resolved(value: string, variable: ConnectionOptions["variable"]): Secret {
  const name = variableName(value);
  if (name === null) return new Secret(value);
  const secret = variable(name);
  if (secret === null) {
    throw new Unusable(
      `Cannot use an MCP server: ${name} is unset, or no variable that its channel may name`,
    );
  }
  return secret;
}
