import type { Command } from "commander";
import { attributesField } from "../domain/attributes.ts";
import type { User } from "../domain/user.ts";
import { exportLine } from "../http/operator-api/export.ts";
import { exportUser } from "../operators/export-user.ts";
import { deleteUser } from "../operators/forgetting.ts";
import { stopUser } from "../operators/stop-runs.ts";
import { changeUser, pagesOfUsers, revokeUser, userView } from "../operators/users.ts";
import { asCommandLine } from "./as-command-line.ts";
import { existingChannel, existingUser } from "./existing.ts";
import { forgettingIn } from "./forgetting.ts";
import { printFields, printJson } from "./print.ts";
import { printJsonPages, printTablePages } from "./print-pages.ts";
import { CannotDo } from "./terminal.ts";
import { threadsToStop } from "./threads-to-stop.ts";
import type { Terminal } from "./terminal.ts";
import { withStore } from "./with-store.ts";

const FLAGS = [
  { name: "block", does: "refuse the user, in every access mode", flags: { blocked: true } },
  { name: "unblock", does: "take a block back", flags: { blocked: false } },
  { name: "whitelist", does: "allow the user in whitelist mode", flags: { whitelisted: true } },
  { name: "unwhitelist", does: "take a whitelisting back", flags: { whitelisted: false } },
] as const;

/** `chat-agent users`: the users of a channel, and their access. */
export function addUsers(program: Command, terminal: Terminal): void {
  const users = program
    .command("users")
    .description("list, show, block, whitelist, export and delete the users of a channel");
  addList(users, terminal);
  addShow(users, terminal);
  for (const flag of FLAGS) addFlag(users, terminal, flag);
  addRevoke(users, terminal);
  addExport(users, terminal);
  addDelete(users, terminal);
}

function addRevoke(users: Command, terminal: Terminal): void {
  users
    .command("revoke")
    .description("end all visitor tokens of the user: pages that hold one are strangers again")
    .argument("<slug>", "the channel")
    .argument("<user>", "external id, or user id")
    .option("--json", "print the user as JSON")
    .action(async (slug: string, id: string, options: { json?: boolean }) => {
      await withStore(terminal, async (store) => {
        const user = await existingUser(store, slug, id);
        if (!(await revokeUser(asCommandLine(store), slug, user.userId)))
          throw new CannotDo(`Cannot revoke ${id}: no such user in channel ${slug}`);
        printUser(terminal, user, options);
      });
    });
}

function addExport(users: Command, terminal: Terminal): void {
  users
    .command("export")
    .description("print all that is kept of the user, one JSON record a line")
    .argument("<slug>", "the channel")
    .argument("<user>", "external id, or user id")
    .option("--json", "the same: it is JSON anyway")
    .action(async (slug: string, id: string) => {
      await withStore(terminal, async (store) => {
        const user = await existingUser(store, slug, id);
        const records = await exportUser(asCommandLine(store), slug, user);
        for await (const record of records) terminal.out(`${JSON.stringify(exportLine(record))}\n`);
      });
    });
}

function addDelete(users: Command, terminal: Terminal): void {
  users
    .command("delete")
    .description("delete the user with all conversations, for good; who comes again is a stranger")
    .argument("<slug>", "the channel")
    .argument("<user>", "external id, or user id")
    .option("--json", "print JSON")
    .action(async (slug: string, id: string, options: { json?: boolean }) => {
      await withStore(terminal, async (store) => {
        const { userId } = await existingUser(store, slug, id);
        const threads = (await store.threads(slug, userId)).length;
        await deleteUser(asCommandLine(store), forgettingIn(store), slug, userId);
        if (options.json) printJson(terminal, { deleted: { userId, threads } });
        else terminal.out(`Deleted user ${userId} with ${threads} threads\n`);
      });
    });
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
  const command = users
    .command(name)
    .description(does)
    .argument("<slug>", "the channel")
    .argument("<user>", "external id, or user id")
    .option("--json", "print the user as JSON");
  if (name === "block") command.option("--stop", "stop the user's runs, and what waits behind them");
  command.action(async (slug: string, id: string, options: { json?: boolean; stop?: boolean }) => {
    await withStore(terminal, async (store, config) => {
      const user = await existingUser(store, slug, id);
      const changed = await changeUser(asCommandLine(store), slug, user, flags);
      if (changed === null) throw new CannotDo(`Cannot ${name} ${id}: no such user in channel ${slug}`);
      if (options.stop) {
        const threads = await threadsToStop(store, config);
        const stopped = await stopUser(asCommandLine(store), threads, slug, user.userId);
        terminal.err(`Stopped in ${stopped} threads\n`);
      }
      printUser(terminal, changed, options);
    });
  });
}

function printUser(terminal: Terminal, user: User, options: { json?: boolean }): void {
  const shown = { ...userView(user), ...attributesField(user.attributes) };
  if (options.json) printJson(terminal, shown);
  else printFields(terminal, shown);
}
