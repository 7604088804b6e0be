import { InvalidArgumentError } from "commander";
import { blockableAddress } from "../domain/address.ts";
import { at, Refused } from "./command/ask.ts";
import { command } from "./command/command.ts";
import type { Family } from "./command/command.ts";
import { printJson, printTable } from "./command/print.ts";

/** `chat-agent ips`: addresses whose requests to the widget API are refused. */
export const ips: Family = {
  name: "ips",
  does: "list, block and unblock client addresses",
  commands: [
    command({
      name: "list",
      does: "the blocked addresses",
      json: "print a JSON array",
      asks: async ({ api }) => (await api.all<{ address: string }>("/ips")).map(({ address }) => address),
      prints(blocked, { terminal, options }) {
        if (options.json) return printJson(terminal, blocked);
        const rows = blocked.map((address) => [address]);
        printTable(terminal, ["ADDRESS"], rows, "No address is blocked");
      },
    }),
    command({
      name: "block",
      does: "refuse an address, or a range like 192.0.2.0/24",
      takes: [["<address>", "IPv4 or IPv6 address, or a CIDR range", parseAddress]],
      asks: ({ api }, address) => api.post("/ips", { address }).catch(unlessConflict),
      prints: (_, { terminal }, address) => terminal.out(`Blocked ${address}\n`),
    }),
    command({
      name: "unblock",
      does: "take a block back",
      takes: [["<address>", "as the list shows it", parseAddress]],
      asks: ({ api }, address) => api.delete(at`/ips/${address}`),
      prints: (_, { terminal }, address) => terminal.out(`Unblocked ${address}\n`),
      refused: ({ status }, _, address) =>
        status === 404 ? `Cannot unblock ${address}: it is not blocked` : undefined,
    }),
  ],
};

/** What is blocked already is blocked. */
function unlessConflict(error: unknown): void {
  if (!(error instanceof Refused && error.status === 409)) throw error;
}

function parseAddress(text: string): string {
  const address = blockableAddress(text);
  if (address !== null) return address;
  throw new InvalidArgumentError("It takes an IPv4 or IPv6 address, or a range like 192.0.2.0/24.");
}
