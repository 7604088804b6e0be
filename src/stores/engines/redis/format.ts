import { FIRST_FORMAT, refuseOtherFormat, STORE_FORMAT } from "../../format.ts";
import { tables } from "../../tables.ts";
import type { Send } from "./calls.ts";

const FORMAT = "format:{g}";

/** The format of the store on this Redis (../../format.ts); null: it is empty. */
export async function redisFormat(send: Send): Promise<string | null> {
  const found = await send("format", FORMAT, ["GET", FORMAT], true);
  if (typeof found === "string") return found;
  // 0.1.0 wrote no number, and always had a channel.
  const { key } = tables.channels;
  return (await send("format", key, ["EXISTS", key], true)) === 1 ? String(FIRST_FORMAT) : null;
}

/** Writes the format into an empty store; throws if the store has another one. */
export async function checkFormat(send: Send): Promise<void> {
  const found = await redisFormat(send);
  if (found !== null) return refuseOtherFormat(found, "on Redis");
  await send("format", FORMAT, ["SET", FORMAT, String(STORE_FORMAT), "NX"], true);
  // Another version may have been faster.
  refuseOtherFormat(await redisFormat(send), "on Redis");
}
