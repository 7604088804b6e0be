import { SocketAddress, isIP, isIPv4 } from "node:net";

const MAPPED_PREFIX = "::ffff:";

/** The canonical spelling of an IPv4 or IPv6 address, IPv4-mapped IPv6 as IPv4; null if the text is no address. */
export function normalAddress(text: string): string | null {
  const [bare = ""] = text.split("%");
  const family = isIP(bare);
  if (family === 0) return null;
  if (family === 4) return bare;
  const { address } = new SocketAddress({ address: bare, family: "ipv6" });
  const mapped = address.startsWith(MAPPED_PREFIX) ? address.slice(MAPPED_PREFIX.length) : "";
  return isIPv4(mapped) ? mapped : address;
}

/** An address or a range such as 192.0.2.0/24, as it can be blocked, in its canonical spelling; null if it is neither. */
export function blockableAddress(text: string): string | null {
  const [address = "", prefix, ...rest] = text.trim().toLowerCase().split("/");
  const family = isIP(address);
  const longest = family === 6 ? 128 : 32;
  const bits = prefix === undefined ? longest : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1;
  if (family === 0 || address.includes("%") || rest.length > 0 || bits < 0 || bits > longest) return null;
  return prefix === undefined ? (normalAddress(address) ?? address) : `${address}/${bits}`;
}
