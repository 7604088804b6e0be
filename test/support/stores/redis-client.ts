import { createClient } from "redis";

let first: ReturnType<typeof newClient> | null = null;

/** A client of one server that is not the store's, and not connected yet. */
export function redisClient(url: string) {
  // The package makes a class of all commands for each set of options; duplicates share it.
  return (first ??= newClient()).duplicate({ url, socket: {} });
}

function newClient() {
  return createClient({ maintNotifications: "disabled" });
}
