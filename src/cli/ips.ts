import { isIP } from "node:net";
import { InvalidArgumentError } from "commander";
import type { Command } from "commander";
import { normalAddress } from "../domain/address.ts";
import { printJson, printTable } from "./print.ts";
import { CannotDo } from "./terminal.ts";
import type { Terminal } from "./terminal.ts";
import { withStore } from "./with-store.ts";

/** `chat-agent ips`: addresses whose requests to the widget API are refused. */
export function addIps(program: Command, terminal: Terminal): void {
  const ips = program.command("ips").description("list, block and unblock client addresses");

  ips
    .command("list")
    .description("the blocked addresses")
    .option("--json", "print a JSON array")
    .action(async (options: { json?: boolean }) => {
      await withStore(terminal, async (store) => {
        const blocked = await store.blockedIps();
        if (options.json) return printJson(terminal, blocked);
        printTable(
          terminal,
          ["ADDRESS"],
          blocked.map((address) => [address]),
          "No address is blocked",
        );
      });
    });

  ips
    .command("block")
    .description("refuse an address, or a range like 192.0.2.0/24")
    .argument("<address>", "IPv4 or IPv6 address, or a CIDR range", parseAddress)
    .action(async (address: string) => {
      await withStore(terminal, async (store) => {
        await store.blockIp(address);
        terminal.out(`Blocked ${address}\n`);
      });
    });

  ips
    .command("unblock")
    .description("take a block back")
    .argument("<address>", "as the list shows it", parseAddress)
    .action(async (address: string) => {
      await withStore(terminal, async (store) => {
        if (!(await store.unblockIp(address))) {
          throw new CannotDo(`Cannot unblock ${address}: it is not blocked`);
        }
        terminal.out(`Unblocked ${address}\n`);
      });
    });
}

/** In the normal spelling of addresses, so that an address can be unblocked in any spelling. */
function parseAddress(text: string): string {
  const [address = "", prefix, ...rest] = text.trim().toLowerCase().split("/");
  const family = isIP(address);
  const longest = family === 6 ? 128 : 32;
  const bits = prefix === undefined ? longest : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1;
  if (family === 0 || address.includes("%") || rest.length > 0 || bits < 0 || bits > longest) {
    throw new InvalidArgumentError("It takes an IPv4 or IPv6 address, or a range like 192.0.2.0/24.");
  }
  return prefix === undefined ? (normalAddress(address) ?? address) : `${address}/${bits}`;
}
