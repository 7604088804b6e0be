import type { Channel } from "../domain/channels/channel.ts";
import { fileURLToPath } from "node:url";
import type { KnowledgeSource } from "../domain/channels/knowledge.ts";
import { isSame } from "../domain/channels/channel-fields.ts";
import type { HandoffField } from "../domain/threads/hand-off.ts";
import { hashKey } from "../keys.ts";
import type { ChannelKeys } from "../keys.ts";
import type { Secret } from "../secret.ts";
import { NewerRecord } from "../store.ts";
import type { Store } from "../store.ts";

export const CLI_SLUG = "cli";
export const DEMO_SLUG = "demo";

/** The demo channel's keys; this start may not know the secret one. */
export interface DemoKeys {
  publishableKey: string;
  /** null: it was created with another DATA_DIR, or set by hand; the store has only its hash. */
  secretKey: Secret | null;
}

/** The demo channel's current keys; `own` if the channel does not exist yet; null if it is not a web channel. */
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

/** In the demo's shop a visitor may ask for a person; that person answers in the console. */
const HANDOFF: HandoffField = {
  enabled: true,
  replies: [
    "Hello, I am a person, and I am reading what you wrote.",
    "I am looking into it. One moment, please.",
    "Can I help you with anything else?",
  ],
};

/** Creates the transport channel of a start without CHANNELS_FILE, unless it exists. */
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

/** The shop's rules of delivery, returns and the rest: what a visitor asks about is answered from them. */
const RULES: KnowledgeSource = {
  name: "rules",
  folder: fileURLToPath(new URL("../demo/rules", import.meta.url)),
};

/** The rules are where this start has them: an earlier one may have been installed elsewhere. */
function withRules({ knowledge, ...channel }: Channel): Channel {
  if (!knowledge) return channel;
  const sources = knowledge.sources.map((source) =>
    source.name === RULES.name && source.folder !== undefined ? { ...source, ...RULES } : source,
  );
  return { ...channel, knowledge: { ...knowledge, sources } };
}

/**
 * Creates the demo page's web channel. If it exists, this start's page replaces an earlier start's; if a start with other
 * keys created the channel, and may serve a page of its own, this page is added. Origins that a person added, and all other
 * fields, stay as they are. Returns the origins that were removed.
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
      knowledge: { sources: [RULES] },
    });
    return [];
  }
  const { kind, allowedOrigins } = stored;
  const present = withRules(stored);
  const hasPage = origins.every((origin) => allowedOrigins.includes(origin));
  if (kind !== "web" || (hasPage && isSame(present, stored))) return [];
  const earlier = isMadeWith(stored, keys) ? ofEarlierPages(allowedOrigins) : [];
  const ended = earlier.filter((origin) => !origins.includes(origin));
  const kept = allowedOrigins.filter((origin) => !ended.includes(origin));
  await store.putChannel({ ...present, allowedOrigins: [...new Set([...kept, ...origins])] });
  return ended;
}

/** A start adds its page under each of these names; a person adds a page under one. */
function ofEarlierPages(origins: readonly string[]): string[] {
  return origins.filter((origin) => {
    const { protocol, port } = new URL(origin);
    const names = ["127.0.0.1", "localhost"].map((name) => `http://${name}:${port}`);
    return protocol === "http:" && names.every((name) => origins.includes(name));
  });
}

/**
 * null: there is none, or it is damaged and will be replaced. "newer": a newer version wrote it, and it stays as it is. It is
 * searched in the list, not by its slug: a start that died while writing may have left a channel that no list has.
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
