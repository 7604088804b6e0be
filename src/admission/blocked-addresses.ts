import { BlockList, isIP, isIPv4 } from "node:net";
import { normalAddress } from "../domain/address.ts";

/** Is this address, in its normal spelling, one of the blocked addresses and ranges? */
export type IsBlocked = (address: string) => boolean;

/** Entries that are neither an address nor a CIDR range block nobody. */
export function blockedBy(entries: readonly string[]): IsBlocked {
  if (entries.length === 0) return () => false;
  const list = new BlockList();
  for (const entry of entries) {
    const [text = "", bits] = entry.trim().split("/");
    const address = normalAddress(text);
    if (address === null) continue;
    const family = familyOf(address);
    const longest = family === "ipv4" ? 32 : 128;
    // A range over mapped addresses counts its bits from the IPv6 end.
    const prefix =
      bits === undefined ? longest : Number(bits) - (isIP(text) === 6 && family === "ipv4" ? 96 : 0);
    if (!Number.isInteger(prefix) || prefix < 0 || prefix > longest) continue;
    list.addSubnet(address, prefix, family);
  }
  return (address) => isIP(address) !== 0 && list.check(address, familyOf(address));
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIPv4(address) ? "ipv4" : "ipv6";
}
