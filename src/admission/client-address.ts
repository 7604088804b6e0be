import { normalAddress } from "../domain/address.ts";
import type { PlainLog } from "../log.ts";
import type { RequestHead } from "./arrival.ts";
import { forwardedFor } from "./forwarded.ts";

export interface AddressSource {
  /** CLIENT_IP_SOURCE: `socket`, or a lower-case header name. */
  clientIpSource: string;
  /** TRUSTED_PROXY_HOPS, with x-forwarded-for and forwarded. */
  trustedProxyHops: number;
}

/**
 * The client's address in its canonical spelling. Only the configured header is read. If it has no address at the trusted
 * place, the socket's address is used (P23), and `distrusted` is true.
 */
export function clientAddress(
  request: Pick<RequestHead, "headers" | "address">,
  { clientIpSource, trustedProxyHops }: AddressSource,
): { address: string; distrusted: boolean } {
  const socket = normalAddress(request.address) ?? request.address;
  if (clientIpSource === "socket") return { address: socket, distrusted: false };

  const entry = trustedEntry(request.headers.get(clientIpSource) ?? "", { clientIpSource, trustedProxyHops });
  const forwarded = normalAddress(withoutPort(entry));
  return forwarded === null
    ? { address: socket, distrusted: true }
    : { address: forwarded, distrusted: false };
}

/** The lines of a repeated header are joined in order: addresses that the client itself wrote are on the left. */
function trustedEntry(header: string, { clientIpSource, trustedProxyHops }: AddressSource): string {
  // `unknown`, and a name that hides the client (RFC 7239, section 6), are no addresses.
  if (clientIpSource === "forwarded") return forwardedFor(header, trustedProxyHops) ?? "";
  const hops = clientIpSource === "x-forwarded-for" ? trustedProxyHops : 1;
  return header.split(",").at(-hops) ?? "";
}

/** The logs that were told, of all readers of this process. */
const told = new WeakSet<object>();

/** Reads the addresses of requests. Warns once of an untrusted header: a wrong setting, or an attempt by a client. */
export function addressReader(
  source: AddressSource,
  log: Pick<PlainLog, "warn">,
): (request: Pick<RequestHead, "headers" | "address">) => string {
  return (request) => {
    const { address, distrusted } = clientAddress(request, source);
    if (distrusted && !told.has(log)) {
      told.add(log);
      log.warn(
        { header: source.clientIpSource },
        "a request had no client address at the trusted place of its header: its socket's counts, which is the proxy's if there is one; CLIENT_IP_SOURCE and TRUSTED_PROXY_HOPS say where the address is",
      );
    }
    return address;
  };
}

/** The key of an address in the rate windows: an IPv4 address itself, or the /64 of an IPv6 address, which is one client's. */
export function countedAs(address: string): string {
  return address.includes(":") ? groupsOf(address).slice(0, 4).join(":") : address;
}

/** The /48 of an IPv6 address, which a provider gives to a site or to one customer; null for IPv4. */
export function networkOf(address: string): string | null {
  return address.includes(":") ? groupsOf(address).slice(0, 3).join(":") : null;
}

function groupsOf(address: string): string[] {
  const [head = "", tail] = address.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0");
  return [...before, ...zeros, ...after];
}

/** `1.2.3.4:5678`, `[2001:db8::1]:443`, `[2001:db8::1]`, `"1.2.3.4"`: proxies use all of these forms. */
function withoutPort(entry: string): string {
  const text = entry.trim().replace(/^"(.*)"$/, "$1");
  return /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1] ?? /^(\d[\d.]*):\d{1,5}$/.exec(text)?.[1] ?? text;
}
