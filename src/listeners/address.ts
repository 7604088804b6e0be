import { SocketAddress } from "node:net";

const MAPPED_PREFIX = "::ffff:";

/** An address as text: IPv4 dotted, IPv6 in its short form, IPv4-mapped IPv6 as IPv4. */
export function canonicalAddress(text: string): string {
  if (!text.includes(":")) return text;
  const short = new SocketAddress({ family: "ipv6", address: text }).address;
  return short.startsWith(MAPPED_PREFIX) && short.includes(".") ? short.slice(MAPPED_PREFIX.length) : short;
}
