import { createContext } from "preact";

/** By conversation: how many messages have come since its operator, who has taken it, looked at it last. */
export const Unread = createContext<ReadonlyMap<string, number>>(new Map());
