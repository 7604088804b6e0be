import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Api } from "../service/api.ts";
import type { ThreadEvents } from "../service/thread-events.ts";
import type { ChannelView, Me } from "../service/views.ts";

/** The context that every room of the console gets. */
export interface Console {
  api: Api;
  me: Me;
  events: ThreadEvents;
  /** The channels that the operator may see; null: not loaded yet. */
  channels: readonly ChannelView[] | null;
  reloadChannels: () => Promise<readonly ChannelView[]>;
  /** Shows a line that says what was done. */
  tell: (text: string) => void;
}

export const ConsoleContext = createContext<Console | null>(null);

export function useConsole(): Console {
  const console = useContext(ConsoleContext);
  if (console === null) throw new Error("Cannot draw a room outside of the console");
  return console;
}

/** A role's permitted actions; others are not offered. */
export interface May {
  readTexts: boolean;
  changeUsers: boolean;
  /** Delete users and conversations, and export them. */
  forget: boolean;
  changeChannels: boolean;
  makeChannels: boolean;
  seeAddresses: boolean;
  changeAddresses: boolean;
  manageOperators: boolean;
  readAudit: boolean;
}

export function mayOf({ role, channels }: Me): May {
  const isOfAll = channels === null;
  return {
    readTexts: role !== "auditor",
    changeUsers: role !== "auditor",
    forget: role === "admin",
    changeChannels: role === "admin",
    makeChannels: role === "admin" && isOfAll,
    seeAddresses: isOfAll,
    changeAddresses: role === "admin" && isOfAll,
    manageOperators: role === "admin" && isOfAll,
    readAudit: role !== "agent",
  };
}
