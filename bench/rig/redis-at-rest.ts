import { createClient } from "redis";
import { pause } from "./load.ts";

/** Resolves when Redis has written down what it was just filled with: a rewrite of its log takes time from the core. */
export async function untilAtRest(url: string): Promise<void> {
  const client = createClient({ url });
  await client.connect();
  try {
    do {
      await pause(100);
    } while (/aof_rewrite_(in_progress|scheduled):1/.test(await client.info("persistence")));
  } finally {
    client.destroy();
  }
}
