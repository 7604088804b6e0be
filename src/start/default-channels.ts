import type { ChannelKeys } from "./keys-file.ts";
import { hashKey } from "./keys-file.ts";
import type { Store } from "../store.ts";

export const CLI_SLUG = "cli";
export const DEMO_SLUG = "demo";

/**
 * The channels of a start without CHANNELS_FILE: `cli` for transports, and `demo` for the demo page, made where they
 * are missing. The demo's keys and origins follow this start's keys file and page; what people changed of it otherwise
 * stays. `demo: null`: there is no page to follow.
 */
export async function createDefaultChannels(
  store: Store,
  demo: { keys: ChannelKeys; origins: string[] } | null,
): Promise<void> {
  const common = { enabled: true, accessMode: "open", agent: {} } as const;
  if ((await store.channel(CLI_SLUG)) === null) {
    await store.putChannel({
      ...common,
      slug: CLI_SLUG,
      kind: "transport",
      publishableKey: null,
      secretKeyHash: null,
      allowedOrigins: [],
    });
  }
  if (demo === null) return;

  const stored = await store.channel(DEMO_SLUG);
  if (stored !== null && stored.kind !== "web") return;
  const { publishableKey, secretKey } = demo.keys;
  const secretKeyHash = hashKey(secretKey);
  const same =
    stored?.publishableKey === publishableKey &&
    stored.secretKeyHash === secretKeyHash &&
    demo.origins.every((origin) => stored.allowedOrigins.includes(origin));
  if (same) return;
  await store.putChannel({
    ...(stored ?? { ...common, slug: DEMO_SLUG, kind: "web" }),
    publishableKey,
    secretKeyHash,
    allowedOrigins: demo.origins,
  });
}
