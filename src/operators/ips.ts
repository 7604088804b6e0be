import type { ChannelStore } from "../store.ts";
import { note } from "./acting.ts";
import type { Acting } from "./acting.ts";

type Blocking = Acting<Pick<ChannelStore, "blockedIps" | "blockIp" | "unblockIp">>;

/** False: it is blocked already. The address must be in the form that blockableAddress returns. */
export async function blockIp(acting: Blocking, address: string): Promise<boolean> {
  if (await isBlocked(acting, address)) return false;
  await note(acting, { action: "ips.block", target: address, slug: null });
  // Another operator may have blocked it meanwhile.
  return acting.store.blockIp(address);
}

/** False: it was not blocked. */
export async function unblockIp(acting: Blocking, address: string): Promise<boolean> {
  if (!(await isBlocked(acting, address))) return false;
  await note(acting, { action: "ips.unblock", target: address, slug: null });
  return acting.store.unblockIp(address);
}

async function isBlocked({ store }: Blocking, address: string): Promise<boolean> {
  return (await store.blockedIps()).includes(address);
}
