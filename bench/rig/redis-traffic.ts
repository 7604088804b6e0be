import { redisClient } from "../../test/support/stores/redis-client.ts";

/** The traffic of a Redis so far. */
export interface RedisTraffic {
  inBytes: number;
  outBytes: number;
  /** Includes the commands inside functions. */
  commands: number;
}

export async function trafficOf(url: string): Promise<RedisTraffic> {
  const client = redisClient(url);
  await client.connect();
  const stats = await client.info("stats");
  client.destroy();
  const of = (field: string) => Number(new RegExp(`^${field}:(\\d+)`, "m").exec(stats)?.[1] ?? Number.NaN);
  return {
    inBytes: of("total_net_input_bytes"),
    outBytes: of("total_net_output_bytes"),
    commands: of("total_commands_processed"),
  };
}
