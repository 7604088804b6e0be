import type { Command } from "commander";
import { attributesField } from "../domain/attributes.ts";
import type { User } from "../domain/user.ts";
import { changeUser, userView } from "../operators/users.ts";
import { asCommandLine } from "./as-command-line.ts";
import { existingChannel, existingUser } from "./existing.ts";
import { pagesOfUsers } from "../operators/users.ts";
import { printFields, printJson } from "./print.ts";
import { printJsonPages, printTablePages } from "./print-pages.ts";
import { CannotDo } from "./terminal.ts";
import type { Terminal } from "./terminal.ts";
import { withStore } from "./with-store.ts";

const FLAGS = [
  { name: "block", does: "refuse the user, in every access mode", flags: { blocked: true } },
  { name: "unblock", does: "take a block back", flags: { blocked: false } },
  { name: "whitelist", does: "allow the user in whitelist mode", flags: { whitelisted: true } },
  { name: "unwhitelist", does: "take a whitelisting back", flags: { whitelisted: false } },
] as const;

/** `chat-agent users`: who talks in a channel, and who may. */
export function addUsers(program: Command, terminal: Terminal): void {
  const users = program
    .command("users")
    .description("list, show, block and whitelist the users of a channel");
  addList(users, terminal);
  addShow(users, terminal);
  for (const flag of FLAGS) addFlag(users, terminal, flag);
}

function addList(users: Command, terminal: Terminal): void {
  users
    .command("list")
    .description("the users of a channel, oldest first")
    .argument("<slug>", "the channel")
    .option("--json", "print a JSON array")
    .action(async (slug: string, options: { json?: boolean }) => {
      await withStore(terminal, async (store) => {
        await existingChannel(store, slug);
        const pages = pagesOfUsers(store, slug, "oldest first");
        if (options.json) return printJsonPages(terminal, pages, ({ user }) => userView(user));
        await printTablePages(
          terminal,
          ["USER ID", "EXTERNAL ID", "NAME", "BLOCKED", "WHITELISTED"],
          pages,
          ({ user }) => Object.values(userView(user)),
          `Channel ${slug} has no users yet`,
        );
      });
    });
}

function addShow(users: Command, terminal: Terminal): void {
  users
    .command("show")
    .description("one user")
    .argument("<slug>", "the channel")
    .argument("<user>", "external id, or user id")
    .option("--json", "print JSON")
    .action(async (slug: string, id: string, options: { json?: boolean }) => {
      await withStore(terminal, async (store) =>
        printUser(terminal, await existingUser(store, slug, id), options),
      );
    });
}

function addFlag(users: Command, terminal: Terminal, { name, does, flags }: (typeof FLAGS)[number]): void {
  users
    .command(name)
    .description(does)
    .argument("<slug>", "the channel")
    .argument("<user>", "external id, or user id")
    .option("--json", "print the user as JSON")
    .action(async (slug: string, id: string, options: { json?: boolean }) => {
      await withStore(terminal, async (store) => {
        const user = await existingUser(store, slug, id);
        const changed = await changeUser(asCommandLine(store), slug, user, flags);
        if (changed === null) throw new CannotDo(`Cannot ${name} ${id}: no such user in channel ${slug}`);
        printUser(terminal, changed, options);
      });
    });
}

function printUser(terminal: Terminal, user: User, options: { json?: boolean }): void {
  const shown = { ...userView(user), ...attributesField(user.attributes) };
  if (options.json) printJson(terminal, shown);
  else printFields(terminal, shown);
}
