import type { Channel } from "../../src/domain/channels/channel.ts";
import { hashKey } from "../../src/keys.ts";
import { Secret } from "../../src/secret.ts";
import type { Store } from "../../src/store.ts";

/** The two doors that fault tests come in by. */
export const TRANSPORT_KEY = new Secret("faults-transport-key");
export const PUBLISHABLE_KEY = "pk_faults";
export const SECRET_KEY = new Secret("sk_faults_secret_key");
export const ORIGIN = "https://shop.example";
export const TRANSPORT = "cli";
export const WEB = "shop";

/** Who takes threads over. */
export const OPERATOR = { name: "ann", key: new Secret("op_faults_ann") };

/** Written by each instance at its start; the same each time. */
export async function writeChannels(store: Store, mcpUrl?: string): Promise<void> {
  const agent = mcpUrl === undefined ? {} : { mcpServers: { tools: { url: mcpUrl } } };
  await store.putChannel({
    slug: TRANSPORT,
    kind: "transport",
    publishableKey: null,
    secretKeyHash: null,
    allowedOrigins: [],
    enabled: true,
    accessMode: "open",
    agent,
  });
  await store.putChannel({ ...webChannel(WEB, PUBLISHABLE_KEY), agent });
}

export function webChannel(slug: string, publishableKey: string): Channel {
  return {
    slug,
    kind: "web",
    publishableKey,
    secretKeyHash: hashKey(SECRET_KEY),
    allowedOrigins: [ORIGIN],
    enabled: true,
    accessMode: "open",
    agent: {},
  };
}

/** People may take over in both channels; on the server's channel nobody waits for long. */
export async function allowHandOff(store: Store): Promise<void> {
  for (const channel of await store.channels()) {
    const waitSeconds = channel.slug === TRANSPORT ? 1 : 600;
    await store.putChannel({ ...channel, handoff: { enabled: true, waitSeconds } });
  }
  const { name, key } = OPERATOR;
  await store.addOperator({ name, role: "agent", channels: null, keyHash: hashKey(key) });
}
