import { createHash } from "node:crypto";
import type { Channel } from "../../src/domain/channel.ts";
import { sampleChannel } from "../stores/samples.ts";

/** The channels of every simulation, and the keys to them. */
export const ORIGIN = "https://shop.example";
export const PUBLISHABLE_KEY = "pk_shop";
export const SECRET_KEY = "sk_shop_secret";
export const TRANSPORT_KEY = "transport-key";

const secretKeyHash = createHash("sha256").update(SECRET_KEY).digest("hex");

export const CHANNELS: readonly Channel[] = [
  sampleChannel({ publishableKey: PUBLISHABLE_KEY, secretKeyHash, allowedOrigins: [ORIGIN] }),
  sampleChannel({ slug: "cli", kind: "transport", publishableKey: null, secretKeyHash: null }),
];
