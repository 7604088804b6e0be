import { InvalidArgumentError } from "commander";
import type { Command } from "commander";
import { blockableAddress } from "../domain/address.ts";
import { blockIp, unblockIp } from "../operators/ips.ts";
import { asCommandLine } from "./as-command-line.ts";
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
        await blockIp(asCommandLine(store), address);
        terminal.out(`Blocked ${address}\n`);
      });
    });

  ips
    .command("unblock")
    .description("take a block back")
    .argument("<address>", "as the list shows it", parseAddress)
    .action(async (address: string) => {
      await withStore(terminal, async (store) => {
        if (!(await unblockIp(asCommandLine(store), address))) {
          throw new CannotDo(`Cannot unblock ${address}: it is not blocked`);
        }
        terminal.out(`Unblocked ${address}\n`);
      });
    });
}

function parseAddress(text: string): string {
  const address = blockableAddress(text);
  if (address !== null) return address;
  throw new InvalidArgumentError("It takes an IPv4 or IPv6 address, or a range like 192.0.2.0/24.");
}
