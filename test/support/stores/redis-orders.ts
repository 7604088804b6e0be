import { createClient } from "redis";

/** Commands to one server, from a client that is not the store's. Connects when it is needed. */
export interface Orders {
  send: (...command: string[]) => Promise<unknown>;
  close: () => void;
}

/** What asks a server that stands still is a test that went wrong. */
const ANSWER_MS = 30_000;

export function openOrders(url: string): Orders {
  let connected: Promise<Client> | null = null;

  async function connect(): Promise<Client> {
    const client = clientOf(url);
    // A server that was killed: the next command connects anew.
    client.on("error", () => (connected = null));
    return client.connect();
  }

  return {
    async send(...command) {
      const client = await (connected ??= connect());
      return client.sendCommand(command, { timeout: ANSWER_MS });
    },
    close() {
      void connected?.then((client) => client.destroy()).catch(() => {});
      connected = null;
    },
  };
}

let first: ReturnType<typeof firstClient> | null = null;

function clientOf(url: string) {
  const socket = { connectTimeout: ANSWER_MS, reconnectStrategy: false } as const;
  return (first ??= firstClient()).duplicate({ url, socket });
}

/** Duplicated, as in redis-client.ts. */
function firstClient() {
  return createClient({ RESP: 2, maintNotifications: "disabled" });
}

type Client = ReturnType<typeof clientOf>;
