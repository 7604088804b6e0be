import { cutText } from "../../../machines/line.ts";
import type { Attributes } from "./attributes.ts";
import type { AccessMode } from "../channels/channel.ts";

/** A user of a channel (the spec, User). Anonymous: a web visitor without an external id. */
export interface User {
  userId: string;
  /** The user's id in the caller's system; null while anonymous. */
  externalId: string | null;
  displayName: string | null;
  /** Absent if the site has sent none. */
  attributes?: Attributes;
  blocked: boolean;
  whitelisted: boolean;
}

/** The channel's settings that decide about its users; read with every request, so that a change applies at once. */
export interface ChannelState {
  enabled: boolean;
  accessMode: AccessMode;
}

/** May this user talk here? Blocked wins over whitelisted; in `open` mode the whitelist flag is ignored (contract, Users). */
export function mayTalk(channel: ChannelState, user: Pick<User, "blocked" | "whitelisted">): boolean {
  if (!channel.enabled || user.blocked) return false;
  return channel.accessMode === "open" || user.whitelisted;
}

/** The longest name that is stored, in UTF-16 units: a page of users has a hundred. */
export const MAX_DISPLAY_NAME_CHARS = 200;

/** A name as it is stored and shown: a caller's longer one is cut, as it is no id. Earlier versions stored longer ones. */
export function shortDisplayName(name: string): string {
  return cutText(name, MAX_DISPLAY_NAME_CHARS);
}
