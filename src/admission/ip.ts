import { BlockList, isIP, isIPv4 } from "node:net";
import { normalAddress } from "../domain/address.ts";
import type { PlainLog } from "../log.ts";
import type { RequestHead } from "./arrival.ts";

export interface AddressSource {
  /** CLIENT_IP_SOURCE: `socket`, or a lower-case header name. */
  clientIpSource: string;
  /** TRUSTED_PROXY_HOPS, with x-forwarded-for. */
  trustedProxyHops: number;
}

/**
 * The client's address in its one normal spelling. Only the configured header is looked at; where it does not hold an
 * address at the trusted place, the socket's own counts (P23), and `distrusted` says so.
 */
export function clientAddress(
  request: Pick<RequestHead, "headers" | "address">,
  { clientIpSource, trustedProxyHops }: AddressSource,
): { address: string; distrusted: boolean } {
  const socket = normalAddress(request.address) ?? request.address;
  if (clientIpSource === "socket") return { address: socket, distrusted: false };

  // The lines of a repeated header arrive joined, in order: what a client wrote itself stands on the left.
  const entries = (request.headers.get(clientIpSource) ?? "").split(",");
  const hops = clientIpSource === "x-forwarded-for" ? trustedProxyHops : 1;
  const forwarded = normalAddress(withoutPort(entries.at(-hops) ?? ""));
  return forwarded === null
    ? { address: socket, distrusted: true }
    : { address: forwarded, distrusted: false };
}

/** Reads the addresses of requests. An untrusted header is warned of once: it is the operator's mistake, or a client's try. */
export function addressReader(
  source: AddressSource,
  log: Pick<PlainLog, "warn">,
): (request: Pick<RequestHead, "headers" | "address">) => string {
  let hasWarned = false;
  return (request) => {
    const { address, distrusted } = clientAddress(request, source);
    if (distrusted && !hasWarned) {
      hasWarned = true;
      log.warn(
        { header: source.clientIpSource },
        "a request had no client address at the trusted place of its header: its socket's counts",
      );
    }
    return address;
  };
}

/** What an address counts by: IPv4 itself, IPv6 its /64, because a client is given a whole one. */
export function countedAs(address: string): string {
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0");
  return [...before, ...zeros, ...after].slice(0, 4).join(":");
}

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

/** `1.2.3.4:5678`, `[2001:db8::1]:443`, `[2001:db8::1]`, `"1.2.3.4"`: proxies write addresses in all of these ways. */
function withoutPort(entry: string): string {
  const text = entry.trim().replace(/^"(.*)"$/, "$1");
  return /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1] ?? /^(\d[\d.]*):\d{1,5}$/.exec(text)?.[1] ?? text;
}
