import type { Channel } from "../domain/channel.ts";
import type { HandoffField } from "../domain/hand-off.ts";
import { hashKey } from "../keys.ts";
import type { ChannelKeys } from "../keys.ts";
import type { Secret } from "../secret.ts";
import { NewerRecord } from "../store.ts";
import type { Store } from "../store.ts";

export const CLI_SLUG = "cli";
export const DEMO_SLUG = "demo";

/** The demo channel's keys, as far as this start knows them. */
export interface DemoKeys {
  publishableKey: string;
  /** null: it was made with another DATA_DIR, or set by hand; the store has only its hash. */
  secretKey: Secret | null;
}

/** The keys that the demo channel has; `own` if there is no such channel yet; null if it is no web channel. */
export async function demoKeysInForce(store: Store, own: ChannelKeys): Promise<DemoKeys | null> {
  const stored = await listed(store, DEMO_SLUG);
  if (stored === "newer") return null;
  if (stored === null) return own;
  const { kind, publishableKey } = stored;
  if (kind !== "web" || publishableKey === null) return null;
  return { publishableKey, secretKey: isMadeWith(stored, own) ? own.secretKey : null };
}

/** With images: the demo model says what it sees in them. */
const OPEN: Pick<Channel, "enabled" | "accessMode" | "agent"> = {
  enabled: true,
  accessMode: "open",
  agent: { images: true },
};

/** In the demo's shop a visitor may ask for a person, who answers in the console. */
const HANDOFF: HandoffField = {
  enabled: true,
  replies: [
    "Hello, I am a person, and I am reading what you wrote.",
    "I am looking into it. One moment, please.",
    "Can I help you with anything else?",
  ],
};

/** The transport channel of a start without CHANNELS_FILE; nothing where it is there. */
export async function createCliChannel(store: Store): Promise<void> {
  if ((await listed(store, CLI_SLUG)) !== null) return;
  await store.putChannel({
    ...OPEN,
    slug: CLI_SLUG,
    kind: "transport",
    publishableKey: null,
    secretKeyHash: null,
    allowedOrigins: [],
  });
}

/**
 * The demo page's web channel. Where it is there, this start's page takes the place of an earlier start's; if another
 * start made the channel, which may serve a page of its own, it is added. Origins that somebody added, and all other
 * fields, stay as they are. Returns the origins that ended.
 */
export async function createDemoChannel(
  store: Store,
  { keys, origins }: { keys: ChannelKeys; origins: string[] },
): Promise<string[]> {
  const stored = await listed(store, DEMO_SLUG);
  if (stored === "newer") return [];
  if (stored === null) {
    await store.putChannel({
      ...OPEN,
      slug: DEMO_SLUG,
      kind: "web",
      publishableKey: keys.publishableKey,
      secretKeyHash: hashKey(keys.secretKey),
      allowedOrigins: origins,
      handoff: HANDOFF,
    });
    return [];
  }
  const { kind, allowedOrigins } = stored;
  if (kind !== "web" || origins.every((origin) => allowedOrigins.includes(origin))) return [];
  const earlier = isMadeWith(stored, keys) ? ofEarlierPages(allowedOrigins) : [];
  const ended = earlier.filter((origin) => !origins.includes(origin));
  const kept = allowedOrigins.filter((origin) => !ended.includes(origin));
  await store.putChannel({ ...stored, allowedOrigins: [...new Set([...kept, ...origins])] });
  return ended;
}

/** A start adds its page under each of these names; whoever adds a page of their own names it once. */
function ofEarlierPages(origins: readonly string[]): string[] {
  return origins.filter((origin) => {
    const { protocol, port } = new URL(origin);
    const names = ["127.0.0.1", "localhost"].map((name) => `http://${name}:${port}`);
    return protocol === "http:" && names.every((name) => origins.includes(name));
  });
}

/**
 * null: none, or one that is damaged and is made anew. "newer": a newer version wrote it, and it stays as it is. Found in
 * the list and not by its slug: a start that died while it wrote a channel may have left one that no list has.
 */
async function listed(store: Store, slug: string): Promise<Channel | "newer" | null> {
  let isNewer = false;
  const readable = await store.channels((channel) => {
    isNewer ||= channel.slug === slug && channel.error instanceof NewerRecord;
  });
  return isNewer ? "newer" : (readable.find((channel) => channel.slug === slug) ?? null);
}

function isMadeWith({ secretKeyHash }: Channel, { secretKey }: ChannelKeys): boolean {
  return secretKeyHash === hashKey(secretKey);
}
