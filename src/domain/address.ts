import { SocketAddress, isIP, isIPv4 } from "node:net";

const MAPPED_PREFIX = "::ffff:";

/** The canonical spelling of an IPv4 or IPv6 address, IPv4-mapped IPv6 as IPv4; null where the text is no address. */
export function normalAddress(text: string): string | null {
  const [bare = ""] = text.split("%");
  const family = isIP(bare);
  if (family === 0) return null;
  if (family === 4) return bare;
  const { address } = new SocketAddress({ address: bare, family: "ipv6" });
  const mapped = address.startsWith(MAPPED_PREFIX) ? address.slice(MAPPED_PREFIX.length) : "";
  return isIPv4(mapped) ? mapped : address;
}
